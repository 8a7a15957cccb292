package envoy

import (
	"os"
	"sync"
	"testing"
)

// A sweep never takes what an owner is making, and never puts anything into what
// an owner is removing.
func TestSweepBesideOwners(t *testing.T) {
	t.Parallel()
	var owners, sweepers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					sweepDirs()
				}
			}
		})
	}
	for range 4 {
		owners.Go(func() {
			for range 200 {
				dir, err := newRunDir(runDirPath())
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(dir.join(bootstrapName), []byte("{}"), 0o600); err != nil {
					t.Errorf("the directory of a living owner was swept: %v", err)
				}
				if err := dir.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	owners.Wait()
	close(done)
	sweepers.Wait()
}
