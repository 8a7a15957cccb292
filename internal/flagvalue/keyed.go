package flagvalue

import (
	"errors"

	"github.com/spf13/pflag"
)

// Keyed returns the value of a flag of pairs, each key=value, which refuses a pair without a key. The
// pairs are those that the value writes.
func Keyed(value pflag.Value, pairs *map[string]string) pflag.Value { return keyed{value, pairs} }

type keyed struct {
	pflag.Value

	pairs *map[string]string
}

func (f keyed) Set(s string) error {
	if err := f.Value.Set(s); err != nil {
		return err
	}
	if _, ok := (*f.pairs)[""]; ok {
		return errors.New("the key is missing: write key=value")
	}
	return nil
}
