package app

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/configfile"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Reload reads the configuration file again and starts, ends and replaces clusters as it says, without
// touching the others. A file with a mistake changes nothing.
func (a *App) Reload(ctx context.Context) error {
	a.takeoverMu.Lock() // the instance stays
	defer a.takeoverMu.Unlock()
	if a.stopping.Err() != nil {
		return nil
	}
	s := a.current().clusters
	if s == nil || a.config.Reload == nil {
		a.log.Warn("there is nothing to reload: the clusters are not from a configuration file (--config)")
		return nil
	}
	next, err := a.config.Reload()
	a.reload.Done(time.Now(), err)
	if err != nil {
		s.refuse(ctx, err)
		return err
	}
	s.apply(ctx, next)
	a.reloaded = next.Clusters
	return nil
}

// configNow is the configuration with the clusters of the last reload. Only a takeover and a reload,
// one of which is under way at a time, need it: everything else in it stays as it was at the start.
func (a *App) configNow() Config {
	c := a.config
	if a.reloaded != nil {
		c.Clusters = a.reloaded
	}
	return c
}

// refuse notes that a configuration is not in force.
func (s *clusters) refuse(ctx context.Context, err error) {
	lines := []string{fault.Text(err)}
	if list := (*configfile.Problems)(nil); errors.As(err, &list) {
		lines = list.Lines
	}
	for _, line := range lines {
		s.a.log.Error("the configuration is not in force", "problem", line)
	}
	s.mu.Lock()
	s.config.Failed, s.config.Problem = time.Now(), strings.Join(lines, "; ")+"."
	s.mu.Unlock()
	s.subscribers.Notify()
	s.record(ctx, "refused", map[string]string{"problems": lines[0]})
}

// apply makes the clusters those of a configuration.
func (s *clusters) apply(ctx context.Context, next Config) {
	var added, removed, changed, roles []string
	var over []*member // have to end
	s.mu.Lock()
	list := make([]*member, 0, len(next.Clusters))
	for _, c := range next.Clusters {
		m := s.named(c.Name)
		switch {
		case m == nil:
			added = append(added, c.Name)
		case m.config.Settings != c.Settings:
			changed = append(changed, c.Name)
			over = append(over, m)
			m = nil
		case !m.roles.Load().Equal(c.Roles):
			roles = append(roles, c.Name)
			m.roles.Store(&c.Roles)
		}
		if m == nil {
			m = newMember(s, c)
		}
		list = append(list, m)
	}
	for _, m := range s.list {
		if !slices.ContainsFunc(next.Clusters, func(c ClusterConfig) bool { return c.Name == m.config.Name }) {
			removed = append(removed, m.config.Name)
			over = append(over, m)
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(m *member) bool { return slices.Contains(s.list, m) })
	s.list = list
	s.config.Loaded, s.config.Failed, s.config.Problem = time.Now(), time.Time{}, ""
	s.config.Pending = differing(s.a.config.Fixed, next.Fixed)
	pending := s.config.Pending
	s.mu.Unlock()
	for _, m := range list {
		if parts := m.now(); parts != nil && parts.web != nil && slices.Contains(roles, m.config.Name) {
			parts.web.CheckSockets() // whoever may not look any more is shown nothing more
		}
	}

	runs := s.runsUnderWay(ctx, over, removed)
	// Old ones end first: they hold their id and their runs.
	var ending sync.WaitGroup
	for _, m := range over {
		ending.Go(m.retire)
	}
	ending.Wait()
	s.mu.Lock()
	if s.life != nil {
		for _, m := range fresh {
			s.begin(m)
		}
	}
	s.mu.Unlock()
	s.subscribers.Notify()

	details := map[string]string{}
	for name, list := range map[string][]string{"added": added, "removed": removed, "changed": changed, "roles": roles, "restart": pending,
		"runs": runs} {
		if len(list) > 0 {
			details[name] = strings.Join(list, ", ")
		}
	}
	s.a.log.Info("the configuration was read again", "added", added, "removed", removed, "changed", changed, "roles", roles,
		"afterRestart", pending, "underWay", runs)
	s.record(ctx, "ok", details)
}

// runsUnderWay says on which of the clusters that end a run is under way. One that starts anew settles it;
// a removed one is noted until it is configured again.
func (s *clusters) runsUnderWay(ctx context.Context, over []*member, removed []string) (out []string) {
	for _, m := range over {
		parts := m.now()
		if parts == nil || parts.engine == nil {
			continue
		}
		runs, _, err := parts.engine.Runs(ctx, "", newestRuns)
		n := len(slices.DeleteFunc(runs, func(r engine.Run) bool { return !r.State.Open() }))
		if err != nil || n == 0 {
			continue
		}
		out = append(out, m.config.Name+" ("+strconv.Itoa(n)+")")
		if slices.Contains(removed, m.config.Name) {
			s.a.log.Warn("a cluster was removed while runs are under way: they are settled when it is configured again", "cluster", m.config.Name,
				"runs", n)
			s.mu.Lock()
			s.left[parts.watcher.Table().ClusterID] = m.config.Name
			s.mu.Unlock()
		}
	}
	return out
}

// newestRuns is how many runs are looked at for open ones, which are among the newest.
const newestRuns = 50

// differing are the keys that two configurations have different texts for.
func differing(a, b map[string]string) (out []string) {
	for key := range maps.Keys(a) {
		if a[key] != b[key] {
			out = append(out, key)
		}
	}
	for key := range maps.Keys(b) {
		if _, ok := a[key]; !ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// record writes a reload into the audit record, if this process may.
func (s *clusters) record(ctx context.Context, outcome string, details map[string]string) {
	if !s.n.store.Owner() {
		return
	}
	_, err := s.n.store.Append(ctx,
		store.AuditEntry{At: time.Now(), By: auth.Console().ID, Via: string(auth.Console().Method), What: "configuration.reloaded",
			Outcome: outcome,
			Details: details})
	if err != nil {
		s.a.log.Warn("record that the configuration was read", "err", err)
	}
}
