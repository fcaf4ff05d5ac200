from deciban.losses.rules import CostAndGradient as CostAndGradient
from deciban.losses.rules import cllr as cllr
from deciban.losses.rules import cllr_and_gradient as cllr_and_gradient
from deciban.losses.rules import scoring_rule_cost as scoring_rule_cost
from deciban.losses.rules import scoring_rule_cost_and_gradient as scoring_rule_cost_and_gradient
