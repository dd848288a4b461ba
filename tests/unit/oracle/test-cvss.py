#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares base scores of CVSS with the Python package cvss: all vectors of version 3, a sample of version 4. With an argument:
all of them (314,928). It runs where pip has installed the package."""
import itertools
import random
import sys

try:
    import cvss
except ImportError:
    print("no Python package cvss here")
    sys.exit(77)

from domaintool import ask

V3 = {"AV": "NALP", "AC": "LH", "PR": "NLH", "UI": "NR", "S": "UC", "C": "HLN", "I": "HLN", "A": "HLN"}
V4 = {"AV": "NALP", "AC": "LH", "AT": "NP", "PR": "NLH", "UI": "NPA", "VC": "HLN", "VI": "HLN", "VA": "HLN", "SC": "HLN", "SI": "HLN",
      "SA": "HLN"}
SAMPLE = 3000


def vectors(version, metrics):
    for values in itertools.product(*metrics.values()):
        yield "/".join([f"CVSS:{version}", *(f"{name}:{value}" for name, value in zip(metrics, values))])


def main():
    every = [*vectors("3.0", V3), *vectors("3.1", V3)]
    fourth = list(vectors("4.0", V4))
    every += fourth if sys.argv[1:] else random.Random(4).sample(fourth, SAMPLE)
    wrong = []
    for vector, answer in zip(every, ask("cvss", every)):
        score = (cvss.CVSS4 if vector.startswith("CVSS:4") else cvss.CVSS3)(vector).base_score
        if answer != ["1", str(round(float(score) * 10))]:
            wrong.append(f"{vector}: {answer}, not {score}")
    print(f"{len(every)} vectors, {len(wrong)} differ", *wrong[:10], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
