// This file goes into policy/classes: it cuts the ports into classes.

package classes

import (
	"fmt"
	"strconv"

	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.Port,
	rank:      5,
	space:     func(Surface) space { return portSpace{plainSpace{attribute.Port}} },
	pattern:   bytesPattern,
	usual:     func(Surface) string { return "80" },
})

// portSpace is the space of ports.
type portSpace struct{ plainSpace }

func (portSpace) sound(port string) error {
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q is no port", port)
	}
	return nil
}

func (portSpace) complete(_ string, n int) []string { return []string{strconv.Itoa(8000 + n)} }

func (portSpace) around(p pattern, _ string) []variant {
	return []variant{{p.text[:len(p.text)-1], "a shorter number"}}
}
