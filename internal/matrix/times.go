package matrix

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/report"
)

// Times are how long cases took, by name. They balance the shards.
type Times map[string]time.Duration

//go:embed times.json
var timesJSON []byte

// Measured returns the times of the built-in cases on two cores. `make times` measures them.
func Measured() Times {
	times, err := ParseTimes(timesJSON)
	if err != nil {
		panic("conformance: times.json: " + err.Error()) // that it parses is a test
	}
	return times
}

// ParseTimes reads what [Times.WriteTo] writes: an object of milliseconds by case.
func ParseTimes(data []byte) (Times, error) {
	var milliseconds map[string]float64
	if err := json.Unmarshal(data, &milliseconds); err != nil {
		return nil, fmt.Errorf("times of cases: want an object of milliseconds: %w", err)
	}
	times := make(Times, len(milliseconds))
	for name, ms := range milliseconds {
		if ms < 0 || ms > float64(time.Hour.Milliseconds()) {
			return nil, fmt.Errorf("times of cases: %q: %v milliseconds is no time of a case", name, ms)
		}
		times[name] = report.Took(ms)
	}
	return times, nil
}

// ReadTimes reads a file of times, none for "".
func ReadTimes(file string) (Times, error) {
	if file == "" {
		return nil, nil
	}
	data, err := folder.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file with the output of meshproof report times", err)
	}
	times, err := ParseTimes(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return times, nil
}

// TimesOf takes the times from runs, the longest of each case.
func TimesOf(runs []report.Run) Times {
	times := Times{}
	for _, run := range runs {
		for _, c := range run.Cases {
			times[c.Case] = max(times[c.Case], report.Took(c.Milliseconds))
		}
	}
	return times
}

// WriteTo writes the times as times.json has them, in whole milliseconds.
func (t Times) WriteTo(w io.Writer) (int64, error) {
	milliseconds := make(map[string]int64, len(t))
	for name, d := range t {
		milliseconds[name] = d.Milliseconds()
	}
	text, err := json.MarshalIndent(milliseconds, "", "  ")
	if err != nil {
		return 0, fmt.Errorf("conformance: write the times: %w", err)
	}
	n, err := w.Write(append(text, '\n'))
	return int64(n), err
}

// The cost of a case without a measured time: a push, and a connection for each request.
const (
	costOfCase    = 10 * time.Millisecond
	costOfRequest = 3 * time.Millisecond
)

// Cost returns how long a case took, or an estimate by its number of requests.
func (t Times) Cost(c cases.Case) time.Duration {
	if d, ok := t[c.Name]; ok {
		// With a cost of zero for each case, the shards would not be balanced by number.
		return max(d, time.Millisecond)
	}
	return costOfCase + time.Duration((len(c.Requests)+len(c.RoutedRequests)))*costOfRequest
}

const module = "github.com/meshproof/meshproof"

// Version returns the version of meshproof that the Go command recorded in this binary, or
// "(devel)".
func Version() string {
	const unknown = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	if info.Main.Path == module {
		return cmp.Or(info.Main.Version, unknown)
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return cmp.Or(dep.Version, unknown)
		}
	}
	return unknown
}

// Reference describes meshproof's own compiler.
func Reference() report.Implementation {
	return report.Implementation{
		Organization: "meshproof", Project: "meshproof", URL: "https://" + module, Version: Version(),
		Contact: []string{"https://" + module + "/issues"},
	}
}
