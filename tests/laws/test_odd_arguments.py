"""Functions on arrays refuse odd arguments with an InputError that names one, and never fail elsewhere."""

import inspect

import numpy as np
import pytest

from deciban import InputError, biometrics, metrics, multiclass, spoofing

RNG = np.random.default_rng(0)
TAR, NON, SPOOF = RNG.normal(1, 1, 12), RNG.normal(-1, 1, 15), RNG.normal(0, 1, 9)
LOGLIK, LABEL = RNG.normal(size=(10, 3)), np.arange(10) % 3
ASV = {"asv": spoofing.AsvErrors(0.05, 0.05, 0.3)}
TWO, THREE, CM = {"tar": TAR, "non": NON}, {"tar": TAR, "non": NON, "spoof": SPOOF}, {"bona": TAR, "spoof": SPOOF}
ATTACKS = {"attacks": {"A": SPOOF, "B": SPOOF - 1}}
NAMES = ["s1", "s2", "s3", "x", "s2"]
SEARCH = {"scores": RNG.normal(size=(5, 3)), "probe_id": NAMES, "gallery_id": NAMES[:3]}
GROUPS = TWO | {"tar_groups": ["f", "m"] * 6, "non_groups": ["f", "m", "m"] * 5, "threshold": 0.1}
GROUPS |= {"tar_units": np.arange(12), "non_units": np.arange(15)}
PAIRS = {name: RNG.normal(size=(8, 2)) for name in ("tar", "non", "spoof")}
ZOO = {"scores": RNG.normal(size=6), "is_mated": [1, 0] * 3, "reference": [*NAMES, "z"], "probe": [*NAMES, "z"]}

VALID = {
    metrics.ece: TWO | {"prior": 0.3},
    metrics.mce: TWO | {"prior": 0.3},
    metrics.average_precision: TWO,
    metrics.f1_at: TWO | {"threshold": 0.1},
    metrics.matthews_at: TWO | {"threshold": 0.1},
    multiclass.top_k_accuracy: {"loglik": LOGLIK, "label": LABEL, "k": 2},
    spoofing.AsvErrors: {"p_miss": 0.1, "p_fa": 0.1, "p_fa_spoof": 0.2},
    spoofing.asv_errors: THREE,
    spoofing.min_a_dcf: THREE,
    spoofing.act_a_dcf: THREE,
    spoofing.min_tandem_a_dcf: THREE | {"bona": TAR, "cm_spoof": SPOOF},
    spoofing.sasv_eers: THREE,
    spoofing.t_dcf_curve: CM | ASV,
    spoofing.min_t_dcf: CM | ASV,
    spoofing.act_t_dcf: CM | ASV,
    spoofing.t_eer: TWO | {"asv_spoof": SPOOF, "bona": TAR, "cm_spoof": SPOOF},
    spoofing.min_tandem_a_dcf: THREE | {"bona": TAR, "cm_spoof": SPOOF},
    spoofing.t_eer_path: TWO | {"asv_spoof": SPOOF, "bona": TAR, "cm_spoof": SPOOF},
    spoofing.min_cascade_a_dcf: PAIRS,
    spoofing.a_dcf_surface: PAIRS,
    biometrics.zoo: ZOO,
    biometrics.generalized_rates: {"fmr": 0.1, "fnmr": 0.1, "enrol": (1, 9), "acquire": (2, 8)},
    biometrics.cmc: SEARCH,
    biometrics.dir_fpir: SEARCH,
    biometrics.differential: GROUPS,
    spoofing.apcer: ATTACKS | {"threshold": 0.1},
    spoofing.bpcer_at_apcer: ATTACKS | {"bona": TAR},
    spoofing.acer: ATTACKS | {"bona": TAR, "threshold": 0.1},
}

ODD = (
    *("abc", "", b"x", (), [], {}, {1, 2}, object(), float, Ellipsis, iter([1, 2]), range(0)),
    *([None, 1.0], ["a", "b"], [1 + 2j], [np.nan, 1.0], [10**400], [[1, 2], [3, 4]], [[[1]]]),
    *(np.zeros((2, 0)), np.array(["1", "2"]), np.array([[0.5]]), np.ma.masked_array([1.0, 2.0], [True, False])),
    *(1 + 2j, 10**400, np.datetime64("2020-01-01"), np.datetime64("NaT")),
)
"""Values that no argument of these functions accepts."""

NONE_IS_DEFAULT = {"tar_weights", "non_weights", "sample_weight", "classes"}
UNKNOWN = {(spoofing.AsvErrors, "threshold")}  # a verifier whose threshold is not known has NaN
ARGUMENTS = [(call, name) for call in VALID for name in inspect.signature(call).parameters]


@pytest.mark.parametrize(("call", "name"), ARGUMENTS, ids=lambda one: getattr(one, "__name__", one))
def test_odd_values_are_refused_by_the_name_of_the_argument(call, name):
    call(**VALID[call])
    is_optional = inspect.signature(call).parameters[name].default is None or name in NONE_IS_DEFAULT
    numbers = () if (call, name) in UNKNOWN else (np.nan,)
    for value in (*ODD, *numbers, *(() if is_optional else (None,))):
        if VALID[call] is PAIRS and isinstance(value, list) and value == [[1, 2], [3, 4]]:
            continue  # two pairs of scores
        with pytest.raises(InputError) as caught:
            call(**{**VALID[call], name: value})
        said = str(caught.value)
        assert name in said or (name == "loglik" and "label" in said), f"{value!r}: {said}"
        assert said.endswith("."), said


@pytest.mark.parametrize("package", [spoofing, biometrics])
def test_every_function_of_fields_is_among_them(package):
    public = {getattr(package, name) for name in package.__all__}
    assert {one for one in public if inspect.isfunction(one)} <= VALID.keys()


@pytest.mark.parametrize("call", [spoofing.t_dcf_curve, spoofing.min_t_dcf, spoofing.act_t_dcf])
def test_a_flag_is_true_or_false(call):
    with pytest.raises(InputError, match=r"normalize: got 1\. It is True or False\."):
        call(**VALID[call], normalize=1)


def test_whole_numbers_are_no_booleans_and_have_limits():
    for bins in (True, 0, 2.0, 1_000_001):
        with pytest.raises(InputError, match=r"bins: got .*\. It is a whole number from 1 to 1,000,000\."):
            metrics.ece(**TWO, prior=0.5, bins=bins)
    with pytest.raises(InputError, match=r"k: got True\. It is a whole number, at least 1"):
        multiclass.top_k_accuracy(LOGLIK, LABEL, k=True)


def test_infinite_thresholds_reject_or_accept_all():
    assert metrics.f1_at(TAR, NON, np.inf) == 0.0
    assert metrics.matthews_at(TAR, NON, -np.inf) == 0.0
