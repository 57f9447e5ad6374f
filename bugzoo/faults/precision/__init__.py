"""Mixed precision: autocast, GradScaler, float16, bfloat16."""
