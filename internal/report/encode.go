package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Encode returns a run as a results file has it. The same run gives the same bytes.
func Encode(r Run) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("report: write the results: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads what [Encode] writes, and checks it. A run is refused with a field or a feature that this version does not
// know, with counts that its cases do not add up to, or with a case that has another hash than it states.
func Decode(data []byte) (Run, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var r Run
	if err := decoder.Decode(&r); err != nil {
		return Run{}, fmt.Errorf("not a results file of this version of meshproof, but maybe of a newer one: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Run{}, errors.New("something follows the run: a results file has one run")
	}
	if err := r.check(); err != nil {
		return Run{}, err
	}
	return r, nil
}

// check reports a contradiction in a run.
func (r Run) check() error {
	if r.Envoy == "" || r.Meshproof == "" {
		return errors.New("it names no version of Envoy, or of meshproof: not a results file")
	}
	if r.Shard != "" {
		if _, err := ParseShard(r.Shard); err != nil {
			return err
		}
	}
	if err := checkTime(r.Milliseconds); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range r.Cases {
		if c.Case == "" || seen[c.Case] {
			return fmt.Errorf("case %q: its name stands there twice, or is empty", c.Case)
		}
		seen[c.Case] = true
		if err := c.Check(); err != nil {
			return err
		}
		if err := c.checkStatus(); err != nil {
			return fmt.Errorf("case %q: %w", c.Case, err)
		}
	}
	t := Count(r.Cases)
	if r.Passed != t.Passed || r.Failed != t.Failed || r.Skipped != t.Skipped+t.NotApplicable {
		return fmt.Errorf("it says that %d cases passed, %d failed and %d were skipped, but of its cases %d, %d and %d did: the file was changed",
			r.Passed, r.Failed, r.Skipped, t.Passed, t.Failed, t.Skipped+t.NotApplicable)
	}
	return nil
}

// checkStatus reports a case whose status contradicts its requests or its error.
func (c Case) checkStatus() error {
	if err := checkTime(c.Milliseconds); err != nil {
		return err
	}
	sound := c.Error == ""
	for i, q := range c.Requests {
		if q.Passed != (len(q.Problems) == 0) {
			return fmt.Errorf("requests[%d]: passed is %t, with %d problems: the file was changed", i, q.Passed, len(q.Problems))
		}
		if err := checkTime(q.Evidence.Milliseconds); err != nil {
			return fmt.Errorf("requests[%d]: %w", i, err)
		}
		sound = sound && q.Passed
	}
	switch {
	case c.NotApplicable && c.Skipped == "":
		return errors.New("it is not applicable, but was not skipped: the file was changed")
	case c.Passed && (!sound || c.Skipped != ""):
		return errors.New("it passed, it says, but it was skipped, or has an error or a request with a problem: the file was changed")
	case !c.Passed && sound && c.Skipped == "":
		return errors.New("it failed, it says, but has no error and no request with a problem: the file was changed")
	}
	return nil
}

// checkTime refuses a negative time, and a time of more than a year.
func checkTime(milliseconds float64) error {
	if milliseconds < 0 || milliseconds > 365*24*3600*1000 {
		return fmt.Errorf("it took %g ms, it says: that is no time", milliseconds)
	}
	return nil
}
