// This file goes into policy/classes: it cuts the ports of callers into classes.

package classes

import (
	"fmt"
	"strconv"

	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.SourcePort,
	rank:      90,
	space:     func(Surface) space { return sourcePortSpace{plainSpace{attribute.SourcePort}} },
	pattern:   bytesPattern,
	usual:     func(Surface) string { return "80" },
})

// sourcePortSpace is the space of ports.
type sourcePortSpace struct{ plainSpace }

func (sourcePortSpace) sound(port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}

func (sourcePortSpace) complete(_ string, n int) []string { return []string{strconv.Itoa(8000 + n)} }

func (sourcePortSpace) neighbours(p pattern, _ string) []variant {
	return []variant{{p.text[:len(p.text)-1], "a shorter number"}}
}
