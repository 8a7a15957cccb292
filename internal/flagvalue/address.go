package flagvalue

import (
	"fmt"
	"net"

	"github.com/spf13/pflag"
)

// Address returns the value of a flag that takes a host and a port, and sets its default.
func Address(value *string, standard string) pflag.Value {
	*value = standard
	return (*address)(value)
}

type address string

func (a *address) Set(s string) error {
	if _, _, err := net.SplitHostPort(s); err != nil {
		return fmt.Errorf("%q is no address: write host:port, as in 127.0.0.1:18000", s)
	}
	*a = address(s)
	return nil
}

func (a *address) String() string { return string(*a) }

func (*address) Type() string { return "host:port" }
