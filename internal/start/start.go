// Package start makes the start of the program cheap: a program that answers at once is mostly its own start.
//
// It guarantees that no unused memory is cleared, and that no process of the machine is looked at. Go
// initializes packages in the order of their paths, as soon as what they import is ready. So this package, which imports
// little, comes before all packages that would do such work: see [Done].
package start

import (
	"os"
	"runtime"
)

// The garbage collector waits until the heap has doubled. These bytes count and are never touched, so that they take
// no memory: a run with little in use collects a tenth as often. They are made before the first collection. Later, Go
// would begin them in memory that was used before, in one start of eight, and then clear all of them.
var unused = make([]byte, 256<<20)

// procVariable names the folder in which gopsutil looks for processes. The initialization of testcontainers reads all
// processes of the machine, to name a session that this program does not use. It takes a random name if there are none.
const procVariable = "HOST_PROC"

var said, isSet = os.LookupEnv(procVariable)

func init() { os.Setenv(procVariable, os.DevNull) }

// Done is called when the program begins. It restores the environment.
func Done() {
	runtime.KeepAlive(unused)
	if isSet {
		os.Setenv(procVariable, said)
	} else {
		os.Unsetenv(procVariable)
	}
}
