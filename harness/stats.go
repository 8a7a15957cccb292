package harness

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/xds"
)

// counterKey names a filter of an inbound by its stat prefix and its place.
type counterKey struct {
	stat  string
	place xds.FilterPlace
}

// readCounters reads the RBAC counters of the inbounds in one go and returns what those
// of each filter moved by since they were last read; filters whose counters did not move
// are left out. Envoy moves the counters before it answers, so that they are complete once
// the callers have their answers.
func (m *Mesh) readCounters(ctx context.Context, inbounds []int) (map[string][]evidence.FilterCounters, error) {
	called := slices.Clone(inbounds)
	slices.Sort(called)
	called = slices.Compact(called)
	if len(called) == 0 {
		return nil, nil
	}
	stats, names := make([]string, len(called)), map[string]string{}
	moved := make(map[string][]evidence.FilterCounters, len(called))
	for i, inbound := range called {
		stats[i] = m.stat(inbound)
		names[stats[i]] = m.inbounds[inbound].Name
		moved[m.inbounds[inbound].Name] = nil
	}
	// Envoy leaves out a counter that never moved: it reads as zero.
	page, err := m.harness.envoy.AdminGet(ctx, "/stats?usedonly&type=Counters&filter="+url.QueryEscape(xds.CounterNames(stats...)))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	now, err := parseCounters(string(page))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	for key, counters := range now {
		before := m.counters[key]
		m.counters[key] = counters
		since := evidence.FilterCounters{FilterPlace: key.place, Counters: counters.Sub(before.Counters), Logged: counters.Logged - before.Logged}
		if name, ok := names[key.stat]; ok && since != (evidence.FilterCounters{FilterPlace: key.place}) {
			moved[name] = append(moved[name], since)
		}
	}
	for _, filters := range moved {
		evidence.SortFilters(filters)
	}
	return moved, nil
}

// parseCounters reads lines like "http.mesh1_inbound0.rbac.denied: 3" and adds up what is
// counted for the rules of one filter.
func parseCounters(page string) (map[counterKey]evidence.FilterCounters, error) {
	all := map[counterKey]evidence.FilterCounters{}
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		// The name of a rule may have a colon, a number has none.
		end := strings.LastIndex(line, ": ")
		if end < 0 {
			continue
		}
		name, digits := line[:end], line[end+2:]
		value, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("counter %q is %q: %w", name, digits, err)
		}
		stat, place, counter, ok := xds.ParseCounter(name)
		if !ok {
			continue
		}
		key := counterKey{stat, place}
		c := all[key]
		c.FilterPlace = place
		switch counter {
		case "allowed":
			c.Allowed += value
		case "denied":
			c.Denied += value
		case "logged":
			c.Logged += value
		case "shadow_allowed":
			c.ShadowAllowed += value
		case "shadow_denied":
			c.ShadowDenied += value
		}
		all[key] = c
	}
	return all, nil
}
