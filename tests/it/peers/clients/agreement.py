"""Agreement in random tables, by scipy, scikit-learn, statsmodels and krippendorff.

Reads tables from its input, prints the coefficients of each; `null` where one is undefined.
"""

import json
import math
import sys
import warnings

import krippendorff
import numpy as np
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
from statsmodels.stats.proportion import proportion_confint

warnings.simplefilter("ignore")


def defined(compute):
    try:
        value = float(compute())
    except (ValueError, ZeroDivisionError):
        return None
    return value if math.isfinite(value) else None


def coefficients(table):
    person, judge = table["person"], table["judge"]
    categories = list(range(table["categories"]))
    counts = np.zeros((len(categories), len(categories)))
    np.add.at(counts, (person, judge), 1)
    coders = np.array(table["coders"], dtype=float)
    rated = aggregate_raters(np.array([person, judge]).T, n_cat=len(categories))[0]
    agreeing = sum(one == other for one, other in zip(person, judge))
    low, high = proportion_confint(agreeing, len(person), method="wilson")
    return [
        *(
            defined(lambda: cohen_kappa_score(person, judge, labels=categories, weights=weights))
            for weights in (None, "linear", "quadratic")
        ),
        *(defined(lambda: cohens_kappa(counts, wt=weights).kappa) for weights in (None, "linear", "quadratic")),
        *(
            defined(lambda: krippendorff.alpha(coders, level_of_measurement=level))
            for level in ("nominal", "ordinal", "interval", "ratio")
        ),
        defined(lambda: fleiss_kappa(rated)),
        defined(lambda: spearmanr(person, judge).statistic),
        defined(lambda: kendalltau(person, judge).statistic),
        float(low),
        float(high),
    ]


print(json.dumps([coefficients(table) for table in json.load(sys.stdin)]))
