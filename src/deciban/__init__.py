"""Evaluate, calibrate and fuse the scores of recognizers.

``deciban.evaluate(tar, non)`` computes all metrics of a report; `deciban.metrics` has one function for each metric.
`deciban.read_scores`, `deciban.read_key` and `deciban.align` convert files to scores of targets and non-targets. The
commands of the command line are also functions: `deciban.evaluate_files`, `deciban.train_files`, `deciban.apply_files`
and `deciban.report_files`.

A deciban, ten times the common logarithm of a likelihood ratio, is the unit of weight of evidence of Turing and Good.
"""

from deciban._lazy import late, register

# `import deciban` imports almost nothing. ``sklearn`` needs a package that ``from deciban import *`` must not require.
__getattr__, __dir__ = late(__name__, beside=("sklearn",))

register(
    views={
        "table": "deciban.tables.text:as_text",
        "arrow": "deciban.tables.frames:arrow_of",
        "frame": "deciban.tables.frames:frame_of",
        "metrics": "deciban.tables.frames:metric_table",
        "log": "deciban.tables.frames:log_to",
        "plots": "deciban.plots",
        "page": "deciban.report.files:explore",
        "html": "deciban.report.files:shown",
    },
    kinds={
        "two-class": "deciban.workflows.kinds.two_class:TWO_CLASS",
        "classes": "deciban.workflows.kinds.multiclass:MULTICLASS",
    },
    passes={"summary": "deciban.engines.sorting:summarize_source"},
    models={
        "affine": "deciban.calibration:AffineCalibrator",
        "beta": "deciban.calibration:BetaCalibrator",
        "bound": "deciban.calibration:BoundCalibrator",
        "chain": "deciban.calibration:Chain",
        "class-matrix": "deciban.calibration:MatrixTransformation",
        "class-scale": "deciban.calibration:ClassScaleTransformation",
        "detection-affine": "deciban.calibration:DetectionAffineTransformation",
        "detection-pav": "deciban.calibration:DetectionPavTransformation",
        "elub": "deciban.calibration:ElubCalibrator",
        "gaussian": "deciban.calibration:GaussianCalibrator",
        "gaussian-backend": "deciban.calibration:GaussianBackend",
        "linear-fusion": "deciban.fusion:LinearFusion",
        "multiclass-affine": "deciban.calibration:MulticlassCalibrator",
        "multiclass-fusion": "deciban.fusion:MulticlassFusion",
        "multiclass-scale": "deciban.calibration:MulticlassScaleCalibrator",
        "multiclass-shift": "deciban.calibration:MulticlassShiftCalibrator",
        "pav": "deciban.calibration:PavCalibrator",
        "quality-fusion": "deciban.fusion:QualityFusion",
        "scale": "deciban.calibration:ScaleCalibrator",
        "shift": "deciban.calibration:ShiftCalibrator",
        "spoofing-fusion": "deciban.fusion:SpoofingFusion",
        "subset-fusion": "deciban.fusion:SubsetFusion",
        "union-hull": "deciban.fusion:UnionHull",
    },
)
