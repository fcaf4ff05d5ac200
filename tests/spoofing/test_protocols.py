"""Protocols of spoofing, end to end: files as the challenges write them against sums over trials from the papers."""

import json
import math
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciban
from deciban import spoofing
from deciban.errors import InputError
from deciban.spoofing import AsvErrors
from deciban.workflows import evaluate_spoofing_files

RNG = np.random.default_rng(8)
CM = {
    "bona": RNG.normal(2, 1.5, 120).round(3).tolist(),
    "A07": RNG.normal(-2, 1.5, 80).round(3).tolist(),
    "A19": RNG.normal(0, 1.5, 60).round(3).tolist(),
}
ASV = {
    "target": RNG.normal(3, 1.5, 80).round(3).tolist(),
    "nontarget": RNG.normal(-3, 1.5, 160).round(3).tolist(),
    "A07": RNG.normal(1, 1.5, 100).round(3).tolist(),
    "A19": RNG.normal(2, 1.5, 60).round(3).tolist(),
}
P_TAR, P_NON, P_SPOOF = 0.95 * 0.99, 0.95 * 0.01, 0.05


def share(values, condition):
    return sum(map(condition, values)) / len(values)


def closest(positive, negative, *, rejects_equal):
    """Both error rates where they are closest, and the threshold, by trying every score."""
    best = (math.inf,)
    for at in sorted({*positive, *negative}):
        if rejects_equal:
            rates = share(positive, lambda x, at=at: x <= at), share(negative, lambda x, at=at: x > at)
        else:
            rates = share(positive, lambda x, at=at: x < at), share(negative, lambda x, at=at: x >= at)
        gap = abs(rates[0] - rates[1])
        best = min(best, (gap, at, rates)) if gap < best[0] - 1e-12 else best
    return best[1], sum(best[2]) / 2


def verifier(spoofs):
    """Error rates at the threshold of the EER."""
    at, _ = closest(ASV["target"], ASV["nontarget"], rejects_equal=True)
    rates = share(ASV["target"], lambda x: x < at), share(ASV["nontarget"], lambda x: x >= at)
    return AsvErrors(*rates, share(spoofs, lambda x: x >= at), at)


def t_dcfs(spoofs, asv, edition):
    """The t-DCF of both editions at every threshold."""
    c0 = P_TAR * asv.p_miss + P_NON * 10 * asv.p_fa
    c1, c2 = P_TAR - c0, P_SPOOF * 10 * asv.p_fa_spoof
    c0 = c0 if edition == "2021" else 0.0
    for at in [*sorted({*CM["bona"], *spoofs}), math.inf]:
        p_miss, p_fa = share(CM["bona"], lambda x, at=at: x < at), share(spoofs, lambda x, at=at: x >= at)
        yield (c0 + c1 * p_miss + c2 * p_fa) / (c0 + min(c1, c2))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Files of a countermeasure, a verifier and of single scores, with their keys, as in the packages."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"LA_E_{i}", "-", "bonafide", x) for i, x in enumerate(CM["bona"])]
    rows += [(f"LA_E_{a}{i}", a, "spoof", x) for a in ("A07", "A19") for i, x in enumerate(CM[a])]
    (tmp_path / "cm19.txt").write_text("".join(f"{u} {a} {key} {x}\n" for u, a, key, x in rows))
    (tmp_path / "cm21.txt").write_text("".join(f"{u} {x}\n" for u, _, _, x in rows))
    (tmp_path / "key21.txt").write_text("".join(f"LA_1 {u} alaw ita_tx {a} {k} notrim eval\n" for u, a, k, _ in rows))
    (tmp_path / "cm5.tsv").write_text("filename\tcm-score\n" + "".join(f"{u}\t{x}\n" for u, _, _, x in rows))
    (tmp_path / "key5.tsv").write_text("filename\tcm-label\n" + "".join(f"{u}\t{k}\n" for u, _, k, _ in rows))
    of_asv = [("bonafide", kind, x) for kind in ("target", "nontarget") for x in ASV[kind]]
    of_asv += [(a, "spoof", x) for a in ("A07", "A19") for x in ASV[a]]
    (tmp_path / "asv19.txt").write_text("".join(f"{s} {k} {x}\n" for s, k, x in of_asv))
    (tmp_path / "asv21.txt").write_text("".join(f"LA_{i % 7} LA_E_{i} {x}\n" for i, (_, _, x) in enumerate(of_asv)))
    lines = (f"LA_{i % 7} LA_E_{i} alaw ita_tx {s} {k} notrim eval\n" for i, (s, k, _) in enumerate(of_asv))
    (tmp_path / "asvkey21.txt").write_text("".join(lines))
    lines = (f"m{i % 7},s{i},{k},{s},{x}\n" for i, (s, k, x) in enumerate(of_asv))
    (tmp_path / "sasv.csv").write_text("enroll,test,label,attack,score\n" + "".join(lines))
    (tmp_path / "odd.txt").write_text("u1 - bonafide 2.0\nu2 - bonafide 1.0\nu3 A07 spoof 0.5\nu4 A07 zz 1.5\n")
    return tmp_path


EDITIONS = {
    "2019": "cm19.txt --asv asv19.txt --preset asvspoof2019",
    "2021": "cm21.txt --key key21.txt --asv asv21.txt --asv-key asvkey21.txt --preset asvspoof2021 --where subset=eval",
}


def evaluated(run, call):
    code, out, err = run(f"eval {call} --json")
    assert code == 0, err
    found = json.loads(out)
    jsonschema.Draft202012Validator(deciban.json_schemas()["eval"]).validate(found)
    return found


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("edition", EDITIONS)
def test_t_dcf_of_files_is_the_sum_of_the_papers(edition, run):
    found = evaluated(run, f"{EDITIONS[edition]} --by attack")
    asv, (system,) = verifier([*ASV["A07"], *ASV["A19"]]), found["systems"]
    assert found["verifier"]["p_fa_spoof"] == asv.p_fa_spoof
    assert (found["verifier"]["p_miss"], found["verifier"]["p_fa"]) == (asv.p_miss, asv.p_fa)
    spoofs = [*CM["A07"], *CM["A19"]]
    assert system["min_t_dcf"] == pytest.approx(min(t_dcfs(spoofs, asv, edition)), abs=1e-12)
    assert system["cm_eer"] == pytest.approx(closest(CM["bona"], spoofs, rejects_equal=False)[1], abs=1e-12)
    assert system["act_t_dcf"] == spoofing.act_t_dcf(CM["bona"], spoofs, asv=asv, edition=edition)
    for one in system["conditions"]:
        own = one["condition"]["attack"]
        least = min(t_dcfs(CM[own], verifier(ASV[own]), edition))
        assert one["min_t_dcf"] == pytest.approx(least, abs=1e-12)
        assert one["trials"] == {"targets": 120, "non-targets": len(CM[own])}


def test_each_codec_has_its_own_verifier(here, run):
    """The packages select targets and non-targets, too, and find the threshold of the verifier again."""
    codecs = ("alaw", "gsm")
    for name in ("key21.txt", "asvkey21.txt"):
        lines = (here / name).read_text().splitlines()
        (here / name).write_text("".join(f"{one.replace('alaw', codecs[i % 2])}\n" for i, one in enumerate(lines)))
    (system,) = evaluated(run, f"{EDITIONS['2021']} --by codec")["systems"]
    three = [*ASV["target"], *ASV["nontarget"], *ASV["A07"], *ASV["A19"]]
    kinds = ["target"] * 80 + ["nontarget"] * 160 + ["spoof"] * 160
    two = [*CM["bona"], *CM["A07"], *CM["A19"]]
    for k, one in enumerate(system["conditions"]):
        assert one["condition"] == {"codec": codecs[k]}
        tar, non, spoof = (
            [x for x, kind in list(zip(three, kinds, strict=True))[k::2] if kind == own]
            for own in ("target", "nontarget", "spoof")
        )
        at, _ = closest(tar, non, rejects_equal=True)
        rates = AsvErrors(
            *(float(np.mean(one)) for one in (np.array(tar) < at, np.array(non) >= at, np.array(spoof) >= at))
        )
        bona, attacks = two[:120][k::2], two[120:][k::2]
        least = spoofing.min_t_dcf(bona, attacks, asv=rates)
        assert one["min_t_dcf"] == pytest.approx(least, abs=1e-12)
        assert one["trials"] == {"targets": 60, "non-targets": 70}
    lines = (here / "sasv.csv").read_text().splitlines()
    (here / "sasv.csv").write_text("".join(f"{one},{codecs[i % 2] if i else 'codec'}\n" for i, one in enumerate(lines)))
    (system,) = evaluated(run, "sasv.csv --preset sasv2022 --by codec")["systems"]
    for one in system["conditions"]:
        k = 1 - codecs.index(one["condition"]["codec"])
        tar, non = three[:80][k::2], three[80:240][k::2]
        assert one["sv_eer"] == pytest.approx(closest(tar, non, rejects_equal=False)[1], abs=1e-12)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("edition", EDITIONS)
def test_intervals_of_the_t_dcf_surround_it_and_respect_its_floor(edition, run):
    (system,) = evaluated(run, f"{EDITIONS[edition]} --units trials")["systems"]
    for name in ("min_t_dcf", "act_t_dcf"):
        interval = system["intervals"][name]
        assert interval["low"] < system[name] < interval["high"]
    assert [point["p_target"] for point in system["operating_points"]] == [0.01]  # no internal point


@pytest.mark.usefixtures("here")
def test_tables_have_the_metrics_of_the_edition_in_its_order(run):
    calls = {
        "cm19.txt --asv asv19.txt --preset asvspoof2019": "min t-DCF act t-DCF EER",
        "cm19.txt --preset asvspoof2019": "EER",
        "cm5.tsv --key key5.tsv --preset asvspoof5": "minDCF actDCF Cllr EER",
        "cm5.tsv --key key5.tsv --asv asv19.txt --preset asvspoof5": "minDCF actDCF Cllr EER min a-DCF min t-DCF t-EER",
        "sasv.csv --preset sasv2022": "SASV-EER SV-EER SPF-EER min a-DCF",
        "sasv.csv --preset asvspoof5": "min a-DCF act a-DCF SASV-EER SV-EER SPF-EER",
    }
    for call, headings in calls.items():
        code, out, err = run(f"eval {call} -q --no-intervals")
        assert code == 0, err
        assert out.splitlines()[0].split() == ["system", *headings.split()]
    assert "add the scores of the verifier (--asv FILE)" in run("eval cm19.txt --preset asvspoof2019")[1]


@pytest.mark.usefixtures("here")
def test_single_scores_have_three_eers_and_the_a_dcf(run):
    for preset, costs in (("asvspoof5", (0.0095, 0.05, 10, 10)), ("sasv2022", (0.05, 0.05, 10, 20))):
        (system,) = evaluated(run, f"sasv.csv --preset {preset} --by attack --units trials")["systems"]
        p_non, p_spoof, c_fa, c_fa_spoof = costs
        p_tar, tar, non = 1 - p_non - p_spoof, ASV["target"], ASV["nontarget"]

        def a_dcf(spoofs, at, p_tar=p_tar, non=non, tar=tar, costs=costs):
            wrong = costs[0] * costs[2] * share(non, lambda x: x >= at)
            wrong += costs[1] * costs[3] * share(spoofs, lambda x: x >= at)
            return p_tar * share(tar, lambda x: x < at) + wrong

        for spoofs, found in [
            ([*ASV["A07"], *ASV["A19"]], system),
            *((ASV[one["condition"]["attack"]], one) for one in system["conditions"]),
        ]:
            norm = min(p_tar, p_non * c_fa + p_spoof * c_fa_spoof)
            least = min(a_dcf(spoofs, at) for at in [*sorted({*tar}), math.inf]) / norm
            assert found["min_a_dcf"] == pytest.approx(least, abs=1e-12)
            assert found["spf_eer"] == pytest.approx(closest(tar, spoofs, rejects_equal=False)[1], abs=1e-12)
            interval = found["intervals"]["min_a_dcf"]
            assert interval["low"] < found["min_a_dcf"] < interval["high"]
        assert system["sv_eer"] == pytest.approx(closest(tar, non, rejects_equal=False)[1], abs=1e-12)
        everything = [*non, *ASV["A07"], *ASV["A19"]]
        assert system["sasv_eer"] == pytest.approx(closest(tar, everything, rejects_equal=False)[1], abs=1e-12)


@pytest.mark.usefixtures("here")
def test_presentation_attacks_have_rates_at_limits_of_every_attack(run):
    """Without a column of attacks, all spoofs are one attack."""
    (system,) = evaluated(run, "cm19.txt --preset iso30107 --by attack")["systems"]
    (other,) = evaluated(run, "cm5.tsv --key key5.tsv --preset iso30107")["systems"]

    def bpcer(attacks, limit):
        at = [*sorted({*CM["bona"], *CM["A07"], *CM["A19"]}), math.inf]
        fine = [t for t in at if all(share(own, lambda x, t=t: x >= t) <= limit for own in attacks)]
        return min(share(CM["bona"], lambda x, t=t: x < t) for t in fine)

    both = CM["A07"], CM["A19"]
    for name, limit in (("bpcer10", 0.1), ("bpcer20", 0.05), ("bpcer100", 0.01)):
        assert system[name] == bpcer(both, limit)
        assert [one[name] for one in system["conditions"]] == [bpcer([own], limit) for own in both]
        assert other[name] == bpcer([both[0] + both[1]], limit)
    assert run("eval cm19.txt --preset iso30107 -q")[1].split()[:5] == [
        "system",
        "BPCER10",
        "BPCER20",
        "BPCER100",
        "EER",
    ]


def test_a_verifier_alone_is_a_single_score(here, run):
    (here / "asv.csv").write_text((here / "sasv.csv").read_text())
    one, other = (evaluated(run, f"{name} --preset sasv2022")["systems"][0] for name in ("asv.csv", "sasv.csv"))
    assert one["role"] == "single score"
    assert one["min_a_dcf"] == other["min_a_dcf"]


def test_one_table_of_asvspoof5_has_all_three_roles(here, run):
    rows = [
        ("target", 3.0, 2.0),
        ("nontarget", 2.5, -2.0),
        ("spoof", -3.0, 1.0),
        ("spoof", 2.7, 1.5),
        ("target", 2.0, 3),
    ]
    lines = [f"E_{i}\tF_{i}\t{cm}\t{asv}\t{min(cm, asv)}\n" for i, (_, cm, asv) in enumerate(rows)]
    (here / "all.tsv").write_text("spk\tfilename\tcm-score\tasv-score\tsasv-score\n" + "".join(lines))
    keys = (f"E_{i}\tF_{i}\t{'spoof' if k == 'spoof' else 'bonafide'}\t{k}\n" for i, (k, _, _) in enumerate(rows))
    (here / "all.key").write_text("spk\tfilename\tcm-label\tasv-label\n" + "".join(keys))
    found = evaluated(run, "all.tsv --key all.key --preset asvspoof5")
    assert [(one["name"], one["role"]) for one in found["systems"]] == [
        ("cm-score", "countermeasure"),
        ("sasv-score", "single score"),
    ]
    assert (found["systems"][0]["n_tar"], found["systems"][0]["n_non"]) == (3, 2)
    assert found["verifier"]["name"] == "asv-score"
    tar, non, spoof = [2.0, 3.0], [-2.0], [1.0, 1.5]
    bona, cm_spoof = [3.0, 2.5, 2.0], [-3.0, 2.7]
    assert found["systems"][0]["t_eer"] == spoofing.t_eer(tar, non, spoof, bona=bona, cm_spoof=cm_spoof)[0]


def test_any_order_and_any_words_give_the_same(here, run):
    first = evaluated(run, EDITIONS["2019"])["systems"][0]
    for name in ("cm19.txt", "asv19.txt"):
        lines = (here / name).read_text().splitlines(keepends=True)
        (here / name).write_text("".join(RNG.permutation(lines)))
    assert evaluated(run, EDITIONS["2019"])["systems"][0]["min_t_dcf"] == first["min_t_dcf"]
    text = (
        (here / "sasv.csv")
        .read_text()
        .replace("spoof,", "fab,")
        .replace("nontarget,", "imp,")
        .replace("target,", "tgt,")
    )
    (here / "other.csv").write_text(text)
    words = "--labels target=tgt,nontarget=imp,spoof=fab"
    one, other = (evaluated(run, f"{call} --preset sasv2022") for call in ("sasv.csv", f"other.csv {words}"))
    for name in ("min_a_dcf", "sasv_eer", "sv_eer", "spf_eer"):
        assert one["systems"][0][name] == other["systems"][0][name]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("cm19.txt --asv asv19.txt", "needs one of the protocols asvspoof2019, asvspoof2021, asvspoof5. Protocols of"),
        ("cm19.txt --asv asv19.txt --preset sre12", "sre12 has no metrics of spoofing"),
        ("cm19.txt --asv cm21.txt --preset asvspoof2019", "does not have the labels target, nontarget and spoof"),
        ("cm19.txt --asv cm19.txt --preset asvspoof2019", "must have trials of targets, non-targets and spoofs"),
        ("cm19.txt --asv cm19.txt --preset asvspoof2019", "Are the files swapped?"),
        (
            "asv19.txt --asv cm19.txt --preset asvspoof2019",
            "asv19.txt contains scores of a verifier. Name the counterm",
        ),
        ("cm19.txt --preset asvspoof2019 --labels spoof=spoof", "--labels: spoof, without target. Write"),
        ("odd.txt --preset asvspoof2019", "--labels target=WORD,nontarget=WORD,spoof=WORD"),
        ("cm19.txt --preset asvspoof2019 --dcf 0.1", "--dcf: asvspoof2019 defines its costs. Leave it out."),
        ("cm19.txt --asv asv19.txt --asv-errors 0,0,1 --preset asvspoof2019", "Leave one of them out"),
        ("cm19.txt --asv-errors 0.1,2,1 --preset asvspoof2019", "three fractions"),
        ("cm19.txt --asv-errors 0.1,0.1,0 --preset asvspoof2019", "accepts no spoof"),
        ("cm19.txt --preset asvspoof2019 --equalize attack", "--equalize: not for protocols of spoofing"),
        ("cm19.txt --preset asvspoof2019 --by codec", "no column 'codec' in the key"),
        ("cm19.txt --preset asvspoof2019 --by trial=map.txt", "without files or bins"),
        ("cm19.txt --preset asvspoof2019 --threshold-from cm19.txt", "--threshold-from: not for protocols"),
        ("cm19.txt --preset asvspoof2019 --labels target=spoof,nontarget=bonafide", "no trial is a spoof"),
        ("- --key key21.txt --preset asvspoof2021", "standard input can be read only once"),
        ("--tar cm21.txt --non cm19.txt --preset asvspoof2021", "one file with labels of spoofs"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(call, words, run):
    code, out, err = run(f"eval {call}")
    assert (code, out) == (2, "")
    assert words in err


def test_error_rates_of_a_verifier_are_three_fractions(here):
    with pytest.raises(InputError, match="got 2 numbers"):
        evaluate_spoofing_files(here / "cm19.txt", asv_errors=(0.1, 0.1), preset="asvspoof2019")
    rates = AsvErrors(0.05, 0.05, 0.3)
    found = evaluate_spoofing_files(here / "cm19.txt", asv_errors=rates, preset="asvspoof2021")
    spoofs = [*CM["A07"], *CM["A19"]]
    assert found.systems[0].metrics["min_t_dcf"].value == pytest.approx(min(t_dcfs(spoofs, rates, "2021")), abs=1e-12)


SCORES = st.lists(st.integers(-6, 6).map(float), min_size=1, max_size=10)


def tandem(tar, non, spoof, bona, cm_spoof):
    """Three error rates of a tandem at every pair of thresholds."""
    for at in [*sorted({*tar, *non, *spoof}), math.inf]:
        for beside in [*sorted({*bona, *cm_spoof}), math.inf]:
            accept, accept_cm = (lambda x, at=at: x >= at), (lambda x, at=beside: x >= at)
            passed = share(bona, accept_cm)
            yield (
                1 - share(tar, accept) * passed,
                share(non, accept) * passed,
                share(spoof, accept) * share(cm_spoof, accept_cm),
            )


@given(tar=SCORES, non=SCORES, spoof=SCORES, bona=SCORES, cm_spoof=SCORES)
def test_the_tandem_is_as_good_as_the_best_pair_of_thresholds(tar, non, spoof, bona, cm_spoof):
    rates = list(tandem(tar, non, spoof, bona, cm_spoof))
    costs = [0.9 * p_miss + 0.05 * 10 * p_fa + 0.05 * 20 * p_spoof for p_miss, p_fa, p_spoof in rates]
    found = spoofing.min_tandem_a_dcf(tar, non, spoof, bona=bona, cm_spoof=cm_spoof)
    assert found == pytest.approx(min(costs) / 0.9, abs=1e-12)


@given(tar=SCORES, non=SCORES, spoof=SCORES, bona=SCORES, cm_spoof=SCORES)
def test_the_tandem_eer_is_where_three_rates_are_closest(tar, non, spoof, bona, cm_spoof):
    spreads = {(max(three) - min(three), sum(three) / 3) for three in tandem(tar, non, spoof, bona, cm_spoof)}
    least = min(spread for spread, _ in spreads)
    found = spoofing.t_eer(tar, non, spoof, bona=bona, cm_spoof=cm_spoof)[0]
    assert any(found == pytest.approx(mean, abs=1e-12) for spread, mean in spreads if spread <= least + 1e-12)


@given(tar=SCORES, non=SCORES, spoof=SCORES, bona=SCORES, cm_spoof=SCORES, share_of=st.sampled_from([0.0, 0.5, 1.0]))
def test_the_path_has_the_closest_rates_at_each_threshold_of_the_countermeasure(
    tar, non, spoof, bona, cm_spoof, share_of
):
    path = spoofing.t_eer_path(tar, non, spoof, bona=bona, cm_spoof=cm_spoof, spoof_share=share_of)
    known = dict(zip(path.cm_threshold.tolist(), path.eer.tolist(), strict=True))
    for beside in [*sorted({*bona, *cm_spoof}), math.inf]:
        passed, passed_spoof = share(bona, lambda x, t=beside: x >= t), share(cm_spoof, lambda x, t=beside: x >= t)
        rates = [
            (
                1 - passed * share(tar, lambda x, t=at: x >= t),
                (1 - share_of) * passed * share(non, lambda x, t=at: x >= t)
                + share_of * passed_spoof * share(spoof, lambda x, t=at: x >= t),
            )
            for at in [*sorted({*tar, *non, *spoof}), math.inf]
        ]
        gap = min(abs(miss - wrong) for miss, wrong in rates)
        if abs(rates[0][0] - rates[0][1]) > 1e-12:
            assert (beside in known) == (rates[0][0] < rates[0][1])
        elif share_of != 0.5:  # sums of thirds need not be equal to the last digit
            assert beside in known
        if beside in known:
            means = [(miss + wrong) / 2 for miss, wrong in rates if abs(miss - wrong) <= gap + 1e-12]
            assert any(known[beside] == pytest.approx(one, abs=1e-12) for one in means)


def test_an_attack_that_the_verifier_does_not_accept_or_know_has_no_t_dcf(here, run):
    lines = (here / "asv19.txt").read_text().splitlines()
    (here / "rejects.txt").write_text(
        "".join(f"{one.rpartition(' ')[0]} -99\n" if one.startswith("A07") else f"{one}\n" for one in lines)
    )
    (here / "lacks.txt").write_text("".join(f"{one}\n" for one in lines if not one.startswith("A07")))
    for name in ("rejects.txt", "lacks.txt"):
        found = evaluated(run, f"cm19.txt --asv {name} --preset asvspoof2019 --by attack")
        first, second = found["systems"][0]["conditions"]
        assert "min_t_dcf" not in first
        assert second["min_t_dcf"] > 0.0
        row = next(
            line
            for line in run(f"eval cm19.txt --asv {name} --preset asvspoof2019 --by attack")[1].splitlines()
            if line.startswith("A07")
        )
        assert " - " in row


@pytest.mark.usefixtures("here")
def test_the_eer_of_json_is_that_of_the_protocol(run):
    (one,) = evaluated(run, "cm19.txt --asv asv19.txt --preset asvspoof2019")["systems"]
    assert one["eer"] == one["cm_eer"]
    assert one["intervals"]["eer"] == one["intervals"]["cm_eer"]


@pytest.mark.usefixtures("here")
def test_a_selection_that_the_verifier_cannot_follow_is_stated(run):
    code, _, err = run("eval cm19.txt --asv asv19.txt --preset asvspoof2019 --where attack=A07|-")
    assert code == 0
    assert "--where attack selects trials of SCORES only: the verifier has no such column" in err


@pytest.mark.usefixtures("here")
def test_options_that_change_both_scores_are_stated(run):
    code, _, err = run("eval cm19.txt --asv asv19.txt --preset asvspoof2019 --log10")
    assert code == 0
    assert "--log10: applied to the scores of the verifier, too" in err
    assert "applied to the scores" not in run("eval cm19.txt --asv asv19.txt --preset asvspoof2019")[2]


def test_groups_of_thresholds_change_no_tandem_eer(monkeypatch):
    from deciban.spoofing import tandem as module

    rng = np.random.default_rng(4)
    for _ in range(20):
        three = [rng.normal(mean, 1, 40).round(1) for mean in (1.5, -1.5, 0.5)]
        two = {"bona": rng.normal(1, 1, 50).round(1), "cm_spoof": rng.normal(-1, 1, 70).round(1)}
        found = []
        for few, n_groups in ((1 << 20, 32), (4, 2), (4, 3), (4, 512)):
            monkeypatch.setattr(module, "_FEW", few)
            monkeypatch.setattr(module, "_CELLS", n_groups)
            found.append(spoofing.t_eer(*three, **two))
        assert len(set(found)) == 1


def test_large_groups_of_thresholds_are_not_compared_pair_by_pair(monkeypatch):
    """With scores that tell nothing, the three rates are close in very many groups."""
    from deciban.spoofing import tandem as module

    pairs, ptp = list[int](), np.ptp
    monkeypatch.setattr(module.np, "ptp", lambda array, axis: pairs.append(array[0].size) or ptp(array, axis=axis))
    three, two = np.random.default_rng(1).normal(size=(3, 60_000)), np.random.default_rng(2).normal(size=(2, 60_000))
    spoofing.t_eer(*three, bona=two[0], cm_spoof=two[1])
    assert 0 < sum(pairs) < 1e-5 * three.size * two.size


def test_comparisons_and_workbooks_have_the_metrics_of_the_edition(here, run):
    """A difference of costs in tandem is that of the underlying cost, times a constant of the verifier."""
    openpyxl = pytest.importorskip("openpyxl")
    lines = [line.split() for line in (here / "cm19.txt").read_text().splitlines()]
    other = (f"{u} {a} {k} {float(x) + (i % 7 - 3) / 2}\n" for i, (u, a, k, x) in enumerate(lines))
    (here / "cm19b.txt").write_text("".join(other))
    call = "--asv asv19.txt --preset asvspoof2019 --units trials"
    code, out, err = run(f"compare cm19.txt cm19b.txt {call} --json")
    assert code == 0, err
    found = json.loads(out)
    jsonschema.Draft202012Validator(deciban.json_schemas()["compare"]).validate(found)
    (pair,) = found["pairs"]
    assert [one["figure"] for one in pair["figures"]] == ["min_t_dcf", "act_t_dcf", "cm_eer"]
    how = {"asv": "asv19.txt", "preset": "asvspoof2019", "intervals": False}
    own = evaluate_spoofing_files(["cm19.txt", "cm19b.txt"], **how).systems
    systems = [{name: one.value for name, one in system.metrics.items()} for system in own]
    for one in pair["figures"]:
        values = [system[one["figure"]] for system in systems]
        assert [one["first"], one["second"]] == values
        assert one["difference"] == pytest.approx(values[0] - values[1], abs=1e-12)
        assert one["low"] < one["difference"] < one["high"] < 0
    code, out, err = run("plot forest cm19.txt cm19b.txt --preset asvspoof2019 --units trials -o out.svg --json -q")
    assert code == 0, err
    assert [one["figure"] for one in json.loads(out)["pairs"][0]["figures"]] == ["cm_eer"]
    code, out, err = run(f"compare cm19.txt cm19b.txt {call} --fail-if-worse eer")
    assert (code, out) == (2, "")
    assert "--fail-if-worse: not for protocols of spoofing" in err
    code, _, err = run(f"eval cm19.txt {call} --table xlsx -o out.xlsx -q --no-intervals")
    assert code == 0, err
    _, *rows = openpyxl.load_workbook("out.xlsx").worksheets[0].iter_rows(values_only=True)
    assert [row[2] for row in rows[:4]] == ["min_t_dcf", "act_t_dcf", "cm_eer", "eer"]
    assert rows[0][4] == pytest.approx(systems[0]["min_t_dcf"])


@pytest.mark.usefixtures("here")
def test_a_page_has_the_metrics_of_the_edition_and_its_eer(run):
    call = "cm19.txt --asv asv19.txt --preset asvspoof2019 --units trials --by attack"
    code, out, err = run(f"report {call} -o page.html --json -q")
    assert code == 0, err
    (system,) = (found := json.loads(out))["systems"]
    jsonschema.Draft202012Validator(deciban.json_schemas()["report"]).validate(found)
    how = {"asv": "asv19.txt", "preset": "asvspoof2019", "by": "attack", "intervals": False}
    own = evaluate_spoofing_files("cm19.txt", **how).systems[0].to_dict()
    for name in ("eer", "cm_eer", "min_t_dcf", "act_t_dcf", "role"):
        assert system[name] == own[name]
    assert [one["min_t_dcf"] for one in system["conditions"]] == [one["min_t_dcf"] for one in own["conditions"]]
    assert system["primary"]["value"] == own["cm_eer"]
    page = Path("page.html").read_text()
    section = page.partition("Metrics of asvspoof2019</h2>")[2].partition("</section>")[0]
    headings = re.findall(r"<th scope=.col.[^>]*>([^<]*)", section)
    assert headings[:4] == ["system", "min t-DCF", "act t-DCF", "EER"]
    assert f"{own['min_t_dcf']:.4f}" in section
    assert f">{100 * own['eer']:.2f} %" in page.partition('class="card')[2][:2000].replace("\N{NO-BREAK SPACE}", " ")
    code, out, err = run("report cm19.txt --asv asv19.txt --preset sre12 -o page.html")
    assert (code, out) == (2, "")
    assert "--asv: is for protocols of spoofing" in err
