"""The catalogue as a site: a page for each fault, instrument and program, an index by symptom, and the proofs.

Texts come from the faults' files and numbers from the ledger; the curves are run when the site is built.
`site.build` writes Markdown and hands it to mkdocs.
"""
