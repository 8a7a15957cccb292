package automaton

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
)

// Answer says how a search ended.
type Answer uint8

// The answers.
const (
	// Limited: the search went beyond its limit. There may be a text or not.
	Limited Answer = iota
	// Found: there is a text.
	Found
	// Empty: there is no text.
	Empty
)

// Search looks for texts. It remembers what it learned of languages, and is for one goroutine.
type Search struct {
	// Limit is how many combinations of states one way of searching visits, 0 for the limit of
	// the process.
	Limit int
	// Budget is how many states all searches together look at, 0 for any number. Beyond it each search is [Limited].
	Budget int

	sets map[*Language]*sets
	size int
	// hard counts the questions that went to the limit.
	hard int
	// work counts the states that were looked at.
	work int
}

// Spent reports whether the budget is used up.
func (s *Search) Spent() bool { return s.Budget > 0 && s.work >= s.Budget }

const (
	// defaultLimit is far above what the rules of people ask for: thousands of mixed
	// patterns came to 300.
	defaultLimit = 20000
	// mostLimit bounds what a user may set: a search holds some bytes for each combination.
	mostLimit = 10_000_000
	// quickLimit ends the first way of searching, which is the best one for nearly all
	// questions.
	quickLimit = 2000
	// maxStates bounds the states of all combinations by the default limit, for questions of many
	// languages.
	maxStates = 500_000
	// maxHard is how many questions may go to the limit. Later ones end at the quick limit.
	maxHard = 16
	// maxSearchSize bounds the memory of what is remembered, in units of 4 bytes, and
	// maxQuestionSize that of one way of searching.
	maxSearchSize   = 1 << 24
	maxQuestionSize = 1 << 22
)

// LimitVariable is the variable of the environment with the limit of searches.
const LimitVariable = "MESHPROOF_SEARCH_LIMIT"

var processLimit = sync.OnceValues(func() (int, error) { return parseLimit(os.Getenv(LimitVariable)) })

// Limit returns how many combinations of states a search of this process visits.
func Limit() int { limit, _ := processLimit(); return limit }

// CheckLimit returns why the variable of the environment is no limit.
func CheckLimit() error { _, err := processLimit(); return err }

// parseLimit reads a limit. The default is the least: a smaller one would let a cover be sampled
// that others prove complete.
func parseLimit(text string) (int, error) {
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < defaultLimit || limit > mostLimit {
		return defaultLimit, fmt.Errorf("%s is %q: write a number from %d to %d", LimitVariable, text, defaultLimit, mostLimit)
	}
	return limit, nil
}

// Shortest returns a text that all languages of in have and none of out has, the cheapest
// one: short, and of letters rather than of other characters. The first of in is the
// language of what can be sent.
func (s *Search) Shortest(in, out []*Language) (string, Answer) {
	if s.size > maxSearchSize {
		s.sets, s.size = nil, 0
	}
	for _, l := range in {
		if len(l.starts) == 0 {
			return "", Empty
		}
	}
	if s.Spent() {
		return "", Limited
	}
	limit := s.Limit
	if limit == 0 {
		limit = Limit()
	}
	limit = min(limit, max(quickLimit, maxStates/defaultLimit*limit/(len(in)+len(out))))
	text, answer := s.attempt(in, out, false, min(limit, quickLimit))
	if answer != Limited || s.hard >= maxHard || limit <= quickLimit {
		return text, answer
	}
	// A language of out that has all of the others leaves nothing, and alone it is found soon.
	for _, l := range out {
		if _, alone := s.attempt(in, []*Language{l}, false, quickLimit); alone == Empty {
			return "", Empty
		}
	}
	if text, answer = s.attempt(in, out, true, limit); answer != Limited {
		return text, answer
	}
	backIn, backOut := reversedOf(in), reversedOf(out)
	for _, deterministic := range []bool{false, true} {
		if text, answer := s.attempt(backIn, backOut, deterministic, limit); answer != Limited {
			back := []byte(text)
			slices.Reverse(back)
			return string(back), answer
		}
	}
	if limit > 2*quickLimit {
		text, answer = s.attempt(in, out, false, limit)
	}
	if answer == Limited {
		s.hard++
	}
	return text, answer
}

func reversedOf(all []*Language) []*Language {
	out := make([]*Language, len(all))
	for i, l := range all {
		out[i] = l.reversed()
	}
	return out
}

func (s *Search) setsOf(l *Language) *sets {
	if s.sets == nil {
		s.sets = map[*Language]*sets{}
	}
	if s.sets[l] == nil {
		s.sets[l] = newSets(l)
	}
	return s.sets[l]
}
