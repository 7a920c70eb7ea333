package rules

import (
	"context"
	"time"

	"shardboard/internal/topology"
)

// settingWatch follows the settings of collections and the balancer's switch while this process runs. The zero
// value has seen nothing yet.
type settingWatch struct {
	seen map[topology.Namespace]bool // collections that were in the last table
	set  map[SettingOf]*watchedSetting
	runs []SettingByRun // newest first

	searched int // settings that were searched for in history
}

type watchedSetting struct {
	value   string
	since   SettingSince
	settled bool // history has been searched, or need not be
}

// mostSearched bounds how often history is searched for a setting; each time takes some
// twenty reads.
const mostSearched = 32

// setBefore is how long before it is observed a run can have set something.
const setBefore = 5 * time.Minute

// observe takes in a table.
func (w *settingWatch) observe(t *topology.Table, now time.Time) {
	if !t.IsRead() {
		return
	}
	seen, set := map[topology.Namespace]bool{}, map[SettingOf]*watchedSetting{}
	note := func(of SettingOf, value string) {
		if set[of] = w.set[of]; set[of] == nil || set[of].value != value {
			first := !w.seen[of.NS]
			set[of] = &watchedSetting{value: value, settled: !first, since: SettingSince{At: now, AtLeast: first, Method: "watched"}}
		}
	}
	if b := t.Balancer; b.Known && !b.Moves() || !b.Known && w.set[ofBalancer] != nil { // as it was, as far as is known
		note(ofBalancer, SettingOff)
	}
	seen[ofBalancer.NS] = t.Balancer.Known || w.seen[ofBalancer.NS]
	for _, c := range t.Collections {
		seen[c.NS] = true
		for _, s := range watchedSettings {
			if value := s.unusual(c.Meta); value != "" {
				note(SettingOf{c.NS, s}, value)
			}
		}
	}
	w.seen, w.set = seen, set
}

// unsettled is a setting for which history should be searched, the balancer's first; false if there is none.
func (w *settingWatch) unsettled() (of SettingOf, value string, known time.Time, ok bool) {
	if s := w.set[ofBalancer]; s != nil && !s.settled {
		return ofBalancer, s.value, s.since.At, true
	}
	if w.searched >= mostSearched {
		return of, "", known, false
	}
	for of, s := range w.set {
		if !s.settled {
			return of, s.value, s.since.At, true
		}
	}
	return of, "", known, false
}

// found takes in what history says.
func (w *settingWatch) found(of SettingOf, value string, since SettingSince) {
	w.searched++
	s := w.set[of]
	if s == nil || s.value != value {
		return
	}
	s.settled = true
	if !since.At.IsZero() && since.At.Before(s.since.At) {
		s.since = since
	}
}

// all is since when each setting is not as usual, with the run that set it if one did.
func (w *settingWatch) all() map[SettingOf]SettingSince {
	out := map[SettingOf]SettingSince{}
	for of, s := range w.set {
		out[of] = s.since
	}
	decided := map[SettingOf]bool{}
	for _, r := range w.runs { // only the newest run of each can have left it so
		s := w.set[r.SettingOf]
		if s == nil || decided[r.SettingOf] {
			continue
		}
		decided[r.SettingOf] = true
		if s.value == r.Value && r.At.Before(s.since.At.Add(time.Minute)) && (s.since.AtLeast || r.At.After(s.since.At.Add(-setBefore))) {
			out[r.SettingOf] = SettingSince{At: r.At, Method: "run", Run: r.Run}
		}
	}
	return out
}

// readSettings reads which runs set something, and searches history for one setting.
func (a *Advisor) readSettings(ctx context.Context, t *topology.Table) {
	var runs []SettingByRun
	var err error
	if a.from.SetByRuns != nil {
		if runs, err = a.from.SetByRuns(ctx); err != nil {
			a.from.Log.Warn("read which settings runs have set", "err", err)
		}
	}
	now := a.from.Now()
	a.mu.Lock()
	if err == nil {
		a.settings.runs = runs
	}
	a.settings.observe(t, now)
	of, value, known, ok := a.settings.unsettled()
	a.mu.Unlock()
	if !ok || a.from.Past == nil {
		return
	}
	since, err := sinceWhen(ctx, a.from.Past, t.ClusterID, known, now, func(t *topology.Table) (has, known bool) {
		if of == ofBalancer {
			return !t.Balancer.Moves(), t.Balancer.Known
		}
		c := t.Collection(of.NS)
		if c == nil {
			return false, true
		}
		recorded := !c.Unrecorded || of.Setting != SettingAutoMerge && of.Setting != SettingDefragment
		return of.Setting.unusual(c.Meta) == value, recorded
	})
	if err != nil {
		a.from.Log.Warn("look for when a setting was changed", "collection", string(of.NS), "setting", string(of.Setting), "err", err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settings.found(of, value, since)
}
