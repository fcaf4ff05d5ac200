from deciban.plots.calibration import calibration_map as calibration_map
from deciban.plots.calibration import histogram as histogram
from deciban.plots.calibration import omega as omega
from deciban.plots.calibration import pav as pav
from deciban.plots.calibration import reliability as reliability
from deciban.plots.calibration import tippett as tippett
from deciban.plots.colors import system_colors as system_colors
from deciban.plots.comparison import class_parameters as class_parameters
from deciban.plots.comparison import difference_curve as difference_curve
from deciban.plots.comparison import forest as forest
from deciban.plots.comparison import fusion_weights as fusion_weights
from deciban.plots.comparison import plan as plan
from deciban.plots.comparison import score_scatter as score_scatter
from deciban.plots.comparison import system_worth as system_worth
from deciban.plots.curves import ape as ape
from deciban.plots.curves import bayes_error as bayes_error
from deciban.plots.curves import cmc as cmc
from deciban.plots.curves import det as det
from deciban.plots.curves import ece as ece
from deciban.plots.curves import precision_recall as precision_recall
from deciban.plots.curves import roc as roc
from deciban.plots.detectors import c_avg_curve as c_avg_curve
from deciban.plots.detectors import class_ape as class_ape
from deciban.plots.detectors import class_losses as class_losses
from deciban.plots.detectors import subset_c_avg as subset_c_avg
from deciban.plots.files import FORMATS as FORMATS
from deciban.plots.files import print_style as print_style
from deciban.plots.files import save as save
from deciban.plots.matrices import by_condition as by_condition
from deciban.plots.matrices import condition_map as condition_map
from deciban.plots.matrices import confusion as confusion
from deciban.plots.matrices import pairwise_loss as pairwise_loss
from deciban.plots.matrices import subjects as subjects
from deciban.plots.matrices import zoo as zoo
from deciban.plots.teaching import ape_bars as ape_bars
from deciban.plots.teaching import cllr_bars as cllr_bars
from deciban.plots.teaching import dev_and_eval as dev_and_eval
from deciban.plots.teaching import error_contributions as error_contributions
from deciban.plots.teaching import minimum_cost as minimum_cost
from deciban.plots.teaching import rocch as rocch
from deciban.plots.teaching import rule_weights as rule_weights
from deciban.plots.teaching import scoring_rules as scoring_rules
from deciban.plots.triangle import simplex as simplex

KINDS: tuple[str, ...]
CLASS_KINDS: tuple[str, ...]
COMPARISON_KINDS: tuple[str, ...]
TEACHING_KINDS: tuple[str, ...]
CONDITION_KINDS: tuple[str, ...]
TRIAL_KINDS: tuple[str, ...]
MODEL_KINDS: tuple[str, ...]
MAP_KINDS: tuple[str, ...]
RULE_KINDS: tuple[str, ...]
SET_KINDS: tuple[str, ...]
