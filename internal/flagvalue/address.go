package flagvalue

import (
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/pflag"
)

// Address returns the value of a flag that takes a host and a port, and sets its default.
func Address(value *string, standard string) pflag.Value {
	*value = standard
	return (*address)(value)
}

type address string

func (a *address) Set(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q is no address: write host:port with a port of at most 65535, as in 127.0.0.1:18000", s)
	}
	*a = address(s)
	return nil
}

func (a *address) String() string { return string(*a) }

func (*address) Type() string { return "host:port" }
