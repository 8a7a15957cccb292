package lift

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/messages"
)

// losses are what a program cannot say of its filters. It has each reason once for each
// filter.
type losses struct {
	// filter is the place of the filter that is read.
	filter string
	list   []loss
	// seen has the index of each reason in the list.
	seen map[lossKey]int
}

type loss struct {
	// at is the first place.
	at     *messages.Path
	reason string
	more   int
}

type lossKey struct{ filter, reason string }

func (l *losses) add(at *messages.Path, reason string) {
	k := lossKey{l.filter, reason}
	if i, ok := l.seen[k]; ok {
		l.list[i].more++
		return
	}
	if l.seen == nil {
		l.seen = map[lossKey]int{}
	}
	l.seen[k] = len(l.list)
	l.list = append(l.list, loss{at: at, reason: reason})
}

func (l *losses) sentences() []string {
	var out []string
	for _, of := range l.list {
		text := of.at.String() + ": " + of.reason
		if of.more > 0 {
			text += fmt.Sprintf(" (and %d more)", of.more)
		}
		out = append(out, strings.Map(messages.Printable, text))
	}
	return out
}
