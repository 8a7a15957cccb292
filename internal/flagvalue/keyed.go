package flagvalue

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/pflag"
)

// Keyed returns the value of a flag of pairs, each key=value, which refuses a pair without a key and
// a key that is there twice. The pairs are those that the value writes.
func Keyed(value pflag.Value, pairs *map[string]string) pflag.Value { return keyed{value, pairs} }

type keyed struct {
	pflag.Value

	pairs *map[string]string
}

func (f keyed) Set(s string) error {
	// What was set before is put aside: the value adds to it, and would write over a key.
	earlier := maps.Clone(*f.pairs)
	clear(*f.pairs)
	if err := f.Value.Set(s); err != nil {
		return err
	}
	if _, ok := (*f.pairs)[""]; ok {
		return errors.New("the key is missing: write key=value")
	}
	if fields, err := csv.NewReader(strings.NewReader(s)).Read(); err == nil && len(fields) > len(*f.pairs) {
		return errors.New("a key appears twice: write each key once")
	}
	for key := range *f.pairs {
		if _, ok := earlier[key]; ok {
			return fmt.Errorf("%s appears twice: write each key once", key)
		}
	}
	maps.Copy(*f.pairs, earlier)
	return nil
}
