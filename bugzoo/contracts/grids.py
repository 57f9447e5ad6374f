"""Sampling of images at positions: `grid_sample` and `affine_grid`."""

import weakref

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_F = "torch.nn.functional."
_GENERATED = PAGES + "generated/torch.nn."
SIDE, TIMES = 4, 20
"""Fewest rows and columns of a grid, and how many times faster a coordinate changes along the wrong one."""
FLOOR, STUCK = "loss falls little", "nothing learned"


def _grid(call: Call) -> Numbers:
    grid, image = call.tensor("grid"), call.tensor("input")
    return {
        "mean": grid.mean(),
        "largest": grid.amax(),
        "height": float(image.shape[-2]),
        "width": float(image.shape[-1]),
    }


def _turned(call: Call) -> Numbers | None:
    """How much the first coordinate changes along rows and along columns: it is x, which changes along a row."""
    grid = call.tensor("grid")
    if grid.ndim != 4 or min(grid.shape[1:3]) < SIDE:
        return None
    x, y = grid[..., 0].double(), grid[..., 1].double()
    return {
        "x_down": x.diff(dim=1).abs().mean(),
        "x_along": x.diff(dim=2).abs().mean(),
        "y_down": y.diff(dim=1).abs().mean(),
        "y_along": y.diff(dim=2).abs().mean(),
    }


def _corners(call: Call) -> Numbers | None:
    """The setting of `affine_grid` against that of the `grid_sample` that gets its grid."""
    if call.target.endswith("affine_grid"):
        call.shared["made"] = (weakref.ref(call.result), bool(call["align_corners"]))
        return None
    grid, corners = call.shared.get("made", (lambda: None, False))
    if call["grid"] is not grid():
        return None
    return {"made": str(corners), "used": str(bool(call["align_corners"]))}


CONTRACTS = (
    Contract(
        name="grid_sample_pixels",
        on=(_F + "grid_sample",),
        demand="The grid of `grid_sample` holds positions from -1 to 1, as shares of the image. It does not hold pixels.",
        given=(
            "The grid has numbers up to {largest:.3g}, {mean:.3g} on average, for an image of {height:.0f} by "
            "{width:.0f}."
        ),
        instead="Scale pixels: `2 * x / (width - 1) - 1` with `align_corners=True`.",
        page=_GENERATED + "functional.grid_sample.html",
        kind="unit",
        measure=_grid,
        broken=lambda numbers: numbers["mean"] > 1 and numbers["largest"] > 2,
        breaks=(
            "grid = torch.stack(torch.meshgrid(torch.arange(9.0), torch.arange(9.0), indexing='xy'), -1)[None]\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid, align_corners=True)"
        ),
        keeps=(
            "theta = torch.tensor([[[0.5, 0, 0.8], [0, 0.5, 0.8]]])\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), F.affine_grid(theta, [1, 1, 9, 9], False), align_corners=False)"
        ),
        wrong="Most positions are to lie outside of the image.",
        explains=("by itself",),
    ),
    Contract(
        name="grid_sample_x_first",
        on=(_F + "grid_sample",),
        demand="The last axis of the grid holds x and then y: the first number changes along a row of the image.",
        given="The first number changes by {x_down:.2g} from row to row, and by {x_along:.2g} from column to column.",
        instead="Stack the columns first: `torch.stack((x, y), -1)`, or `torch.meshgrid(..., indexing='xy')`.",
        page=_GENERATED + "functional.grid_sample.html",
        kind="convention",
        measure=_turned,
        broken=lambda numbers: (
            numbers["x_down"] > TIMES * numbers["x_along"] and numbers["y_along"] > TIMES * numbers["y_down"]
        ),
        breaks=(
            "line = torch.linspace(-1, 1, 9)\ngrid = torch.stack(torch.meshgrid(line, line, indexing='ij'), -1)[None]\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid, align_corners=True)"
        ),
        keeps=(
            "line = torch.linspace(-1, 1, 9)\ngrid = torch.stack(torch.meshgrid(line, line, indexing='xy'), -1)[None]\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid, align_corners=True)\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), torch.rand(1, 9, 9, 2) * 2 - 1, align_corners=True)"
        ),
        wrong="Images that are to be mirrored along their diagonal, or turned by 90 degrees.",
        explains=("by itself",),
    ),
    Contract(
        name="align_corners_twice",
        on=(_F + "affine_grid", _F + "grid_sample"),
        demand="`affine_grid` and the `grid_sample` that gets its grid take the same `align_corners`.",
        given="{made} made the grid, and {used} samples it.",
        instead="Pass the same `align_corners` to both.",
        page=_GENERATED + "functional.affine_grid.html",
        kind="convention",
        measure=_corners,
        broken=lambda numbers: numbers["made"] != numbers["used"],
        breaks=(
            "grid = F.affine_grid(torch.eye(2, 3)[None], [1, 1, 9, 9], align_corners=True)\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid, align_corners=False)"
        ),
        keeps=(
            "grid = F.affine_grid(torch.eye(2, 3)[None], [1, 1, 9, 9], align_corners=True)\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid, align_corners=True)\n"
            "F.grid_sample(torch.randn(1, 1, 9, 9), grid + 0, align_corners=False)"
        ),
        wrong="No case is known.",
        explains=(FLOOR, STUCK),
        after=True,
    ),
)
