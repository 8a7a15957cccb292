//go:build !linux

package upstream

import (
	"errors"

	"github.com/meshproof/meshproof/internal/script"
)

type deadPort struct{ port int }

// openDeadPort refuses: what a full backlog does to a connection is measured on Linux alone.
func openDeadPort(string, script.Reach) (*deadPort, error) {
	return nil, errors.New("ports without connections need Linux")
}

func (*deadPort) close() error { return nil }
