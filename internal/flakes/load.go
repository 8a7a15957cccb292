package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// busy is the argument of a process that is there to keep the machine busy.
const busy = "busy"

// spin keeps a core busy until the parent has ended.
func spin() {
	parent := os.Getppid()
	for os.Getppid() == parent {
		for began := time.Now(); time.Since(began) < time.Second; {
		}
	}
	os.Exit(0)
}

const (
	// sampleEvery is how often the processes that want to run are counted, and samples how many
	// counts make a load.
	sampleEvery = 100 * time.Millisecond
	samples     = 20
)

// load keeps as many processes busy as are missing for the load that is wanted.
type load struct {
	wanted int
	stop   chan struct{}
	ended  sync.WaitGroup
	spins  []*exec.Cmd

	mu         sync.Mutex
	sum, count float64
}

// startLoad starts the processes. [load.end] ends them.
func startLoad(wanted int) (*load, error) {
	l := &load{wanted: wanted, stop: make(chan struct{})}
	if _, err := running(); err != nil {
		return nil, fmt.Errorf("measure the load: %w", err)
	}
	l.ended.Go(l.keep)
	return l, nil
}

// end ends the processes and waits for them.
func (l *load) end() {
	close(l.stop)
	l.ended.Wait()
}

// measured is the mean load since the last call.
func (l *load) measured() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	mean := l.sum / max(1, l.count)
	l.sum, l.count = 0, 0
	return mean
}

// keep measures the load, and adds or ends busy processes.
func (l *load) keep() {
	defer l.set(0)
	l.set(l.wanted)
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		sum := 0.0
		for range samples {
			select {
			case <-l.stop:
				return
			case <-tick.C:
			}
			n, err := running()
			if err != nil {
				continue
			}
			sum += n
			l.mu.Lock()
			l.sum, l.count = l.sum+n, l.count+1
			l.mu.Unlock()
		}
		others := sum/samples - float64(len(l.spins))
		l.set(min(l.wanted, max(0, l.wanted-int(others+0.5))))
	}
}

// set makes the number of busy processes so many.
func (l *load) set(n int) {
	for len(l.spins) > n {
		last := len(l.spins) - 1
		_ = l.spins[last].Process.Kill()
		_ = l.spins[last].Wait()
		l.spins = l.spins[:last]
	}
	for len(l.spins) < n {
		self, err := os.Executable()
		if err != nil {
			return
		}
		c := exec.Command(self, busy)
		if c.Start() != nil {
			return
		}
		l.spins = append(l.spins, c)
	}
}

// running counts the processes and threads that run or want to. It leaves out the thread that asks.
func running() (float64, error) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 4 {
		return 0, fmt.Errorf("/proc/loadavg says %q", text)
	}
	now, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.ParseFloat(now, 64)
	return n - 1, err
}
