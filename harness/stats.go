package harness

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/xds"
)

// counterKey names a filter of an inbound by its stat prefix and its place, or one of its
// rules.
type counterKey struct {
	stat  string
	place xds.FilterPlace
	rule  string
}

// readCounters reads the RBAC counters of the inbounds in one go and returns what those
// of each filter and of each rule moved by since they were last read; filters and rules
// whose counters did not move are left out. Envoy moves the counters before it answers, so that they are complete once
// the callers have their answers.
func (m *Mesh) readCounters(ctx context.Context, inbounds []int) (map[string][]evidence.FilterCounters, error) {
	called := slices.Clone(inbounds)
	slices.Sort(called)
	called = slices.Compact(called)
	if len(called) == 0 {
		return nil, nil
	}
	stats := make([]string, len(called))
	for i, inbound := range called {
		stats[i] = m.stat(inbound, m.inbounds[inbound])
	}
	// Envoy leaves out a counter that never moved: it reads as zero.
	page, err := m.harness.envoy.AdminGet(ctx, "/stats?usedonly&type=Counters&filter="+url.QueryEscape(controlplane.CounterNames(stats...)))
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	m.reading++
	since := map[string]uint64{}
	err = parseCounters(string(page), func(name string, value uint64) error {
		last := m.counters[name]
		if last.reading == m.reading {
			return fmt.Errorf("counter %q appears twice on Envoy's page: a rule may have its name", name)
		}
		if m.counters[name] = (counterReading{value, m.reading}); value != last.value {
			since[name] = value - last.value
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	moved, names := make(map[string][]evidence.FilterCounters, len(called)), map[string]string{}
	for i, inbound := range called {
		names[stats[i]] = m.inbounds[inbound].Name
		moved[names[stats[i]]] = nil
	}
	for key, c := range countFilters(since) {
		moved[names[key.stat]] = append(moved[names[key.stat]], c)
	}
	for _, filters := range moved {
		slices.SortFunc(filters, func(a, b evidence.FilterCounters) int {
			return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule))
		})
	}
	return moved, nil
}

// counterReading is the value of a counter, and the number of the reading that saw it.
type counterReading struct {
	value   uint64
	reading int
}

// parseCounters reads lines like "http.mesh1_inbound0.rbac.denied: 3". The name of a rule
// may look like such a line, so that no line is skipped.
func parseCounters(page string, found func(name string, value uint64) error) error {
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		end := strings.LastIndex(line, ": ")
		if end < 0 {
			return fmt.Errorf("%q is no counter: Envoy's page has other lines than were asked for, as a line break in the name of a rule makes them", line)
		}
		name, digits := line[:end], line[end+2:]
		value, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return fmt.Errorf("counter %q is %q: %w", name, digits, err)
		}
		if err := found(name, value); err != nil {
			return err
		}
	}
	return nil
}

// countFilters adds up counters by filter, and by rule.
func countFilters(counters map[string]uint64) map[counterKey]evidence.FilterCounters {
	all := map[counterKey]evidence.FilterCounters{}
	for name, value := range counters {
		counter, ok := controlplane.ParseCounter(name)
		if !ok {
			continue
		}
		key := counterKey{counter.Stat, counter.Place, counter.Rule}
		c := all[key]
		c.FilterPlace, c.Rule = key.place, key.rule
		switch counter.Name {
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
	return all
}
