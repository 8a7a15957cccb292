package classes

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// search returns a sound value of a cell, or why there is none. It first completes
// the pattern itself. Where that fails, each value of the cell leaves the texts
// that lead to the patterns inside it somewhere, be it at the very first
// character: it tries all of these junctions.
func (a *axis) search(cell int32) (string, error) {
	p := a.patterns[cell]
	if p.kind == policy.Exact {
		value := a.value(p.text)
		if a.key(value) != p.text {
			return "", fmt.Errorf("no request has the %s %q", a.name(), value)
		}
		if err := a.sound(value); err != nil {
			return "", err
		}
		return value, nil
	}
	inside := a.children(cell)
	viable := true
	for n := 0; viable && n <= len(inside); n++ {
		value, leads, ok := a.try(cell, p.text, n)
		if ok {
			return value, nil
		}
		viable = leads
	}
	junctions := a.junctions(cell, inside)
	if !viable {
		junctions = nil
	}
	for _, at := range junctions {
		for _, c := range []byte(a.alphabet()) {
			for n := range len(inside) + 1 {
				value, leads, ok := a.try(cell, at+string(c), n)
				if ok {
					return value, nil
				}
				if !leads {
					break
				}
			}
		}
	}
	// The last resort is a caller without any name.
	if a.sound("") == nil && a.find(a.key("")) == cell {
		return "", nil
	}
	return "", a.voidness(p, inside)
}

// try reports whether completing the text leads into the cell, and whether it
// leads anywhere at all.
func (a *axis) try(cell int32, text string, n int) (value string, leads, ok bool) {
	for _, value := range a.complete(text, n) {
		if a.sound(value) != nil {
			continue
		}
		leads = true
		if a.find(a.key(value)) == cell {
			return value, true, true
		}
	}
	return "", leads, false
}

// junctions are the texts from which a value can turn away from the patterns
// inside the cell.
func (a *axis) junctions(cell int32, inside []int32) []string {
	own := len(a.patterns[cell].text)
	seen := make(map[string]bool)
	var out []string
	for _, child := range inside {
		text := a.patterns[child].text
		for end := own; end < len(text); end++ {
			if !seen[text[:end]] {
				seen[text[:end]] = true
				out = append(out, text[:end])
			}
		}
	}
	return out
}

func (a *axis) voidness(p pattern, inside []int32) error {
	for _, value := range a.complete(p.text, 0) {
		if a.sound(value) == nil {
			return fmt.Errorf("the %d matchers inside it leave nothing of it", len(inside))
		}
	}
	if values := a.complete(p.text, 0); len(values) > 0 && strings.HasPrefix(a.key(values[0]), p.text) {
		return a.sound(values[0])
	}
	return errors.New("nothing that can be sent begins so")
}
