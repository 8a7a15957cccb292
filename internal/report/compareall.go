package report

import (
	"errors"
	"fmt"
)

// CompareAll compares the runs of two reports. A single run is compared with a single run.
// Of several runs, those of the same project, version of Envoy and runtime are compared.
// Unpaired names the runs without a counterpart, as a rule those of versions that were
// pinned in between. It is an error if no two runs belong together, or more than two.
func CompareAll(before, after []Run) (compared []Comparison, unpaired []string, err error) {
	if len(before) == 1 && len(after) == 1 {
		return []Comparison{Compare(before[0], after[0])}, nil, nil
	}
	old, err := byColumn(before)
	if err != nil {
		return nil, nil, err
	}
	if _, err := byColumn(after); err != nil {
		return nil, nil, err
	}
	for _, run := range after {
		counterpart, ok := old[run.column()]
		if !ok {
			unpaired = append(unpaired, "new: "+run.column())
			continue
		}
		delete(old, run.column())
		compared = append(compared, Compare(counterpart, run))
	}
	for _, run := range before {
		if _, left := old[run.column()]; left {
			unpaired = append(unpaired, "gone: "+run.column())
		}
	}
	if len(compared) == 0 {
		return nil, nil, errors.New("report: compare: no run of one side is of the same project, version of Envoy and runtime as one of the other: name a results file each")
	}
	return compared, unpaired, nil
}

// column is the same for runs of different days that are the same column of a matrix.
func (r Run) column() string {
	text := fmt.Sprintf("%s on Envoy %s (%s)", r.Implementation.Project, r.Envoy, r.Runtime)
	if r.Shard != "" {
		text += ", shard " + r.Shard
	}
	return text
}

func byColumn(runs []Run) (map[string]Run, error) {
	out := make(map[string]Run, len(runs))
	for _, run := range runs {
		if _, twice := out[run.column()]; twice {
			return nil, fmt.Errorf("report: compare: there are two runs of %s on one side: name the results file", run.column())
		}
		out[run.column()] = run
	}
	return out, nil
}
