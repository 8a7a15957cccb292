package plugin

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// greeting is how a compiler introduces itself.
type greeting struct{ name, version string }

func readGreeting(data []byte) (greeting, error) {
	o, err := readObject(data)
	if err != nil {
		return greeting{}, err
	}
	// A compiler of another version may have other fields.
	spoken, err := value[int](o, "protocol", "a whole number")
	switch {
	case err != nil:
		return greeting{}, err
	case spoken != protocol:
		return greeting{}, fmt.Errorf("protocol: it speaks version %d, want %d", spoken, protocol)
	}
	if err := o.only("protocol", "name", "version"); err != nil {
		return greeting{}, err
	}
	var g greeting
	if g.name, err = value[string](o, "name", "text"); err == nil && g.name == "" {
		err = errors.New("name is empty: want what the compiler is called")
	}
	if err == nil && o.has("version") {
		g.version, err = value[string](o, "version", "text")
	}
	return g, err
}

// readID reads the part of an answer that says what it answers.
func readID(data []byte) (int64, object, error) {
	o, err := readObject(data)
	if err != nil {
		return 0, nil, err
	}
	id, err := value[int64](o, "id", "the whole number of a request")
	return id, o, err
}

// answer is the rest of one: the policies are refused, or these are the filters.
type answer struct {
	refusal error
	filters xds.Filters
}

func readAnswer(o object, in policy.Inbound) (answer, error) {
	if err := o.only("id", "filters", "error"); err != nil {
		return answer{}, err
	}
	switch refused, accepted := o.has("error"), o.has("filters"); {
	case refused && accepted:
		return answer{}, errors.New("it has filters and an error: want one of them")
	case !refused && !accepted:
		return answer{}, errors.New("it has neither filters nor an error")
	case accepted:
		filters, err := readFilters(o["filters"], in)
		return answer{filters: filters}, err
	}
	text, err := value[string](o, "error", "text")
	if err == nil && text == "" {
		err = errors.New("error is empty: want why the policies are refused")
	}
	return answer{refusal: errors.New(text)}, err
}

// list reads a field that may be left out.
func list(o object, key string) ([]json.RawMessage, error) {
	if !o.has(key) {
		return nil, nil
	}
	return value[[]json.RawMessage](o, key, "a list")
}
