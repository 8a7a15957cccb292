package report

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is a part of a run. Number counts from one. The zero value is the whole run.
type Shard struct{ Number, Of int }

// MostShards bounds the number of parts of a run.
const MostShards = 10_000

// ParseShard reads "2/5", the second of five.
func ParseShard(text string) (Shard, error) {
	number, of, _ := strings.Cut(text, "/")
	n, err1 := strconv.Atoi(number)
	m, err2 := strconv.Atoi(of)
	s := Shard{n, m}
	switch {
	case err1 != nil || err2 != nil || s.String() != text:
		return Shard{}, fmt.Errorf("shard %q is none: write 2/5 for the second part of five", text)
	case m > MostShards:
		return Shard{}, fmt.Errorf("shard %q: there are %d parts at most", text, MostShards)
	case n < 1 || n > m:
		return Shard{}, fmt.Errorf("shard %q: the parts are 1 to %d", text, m)
	}
	return s, nil
}

// String returns "2/5", or "" for the whole.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Of)
}
