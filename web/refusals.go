package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/time/rate"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// auditAccessRefused is a request that would have changed something and was
// refused before its handler.
const auditAccessRefused = "access.refused"

// Bounds of what refusals can add to the record: whoever is refused can ask as
// often as they like, and the record is kept for ever. The first refusal of
// somebody at a route is recorded at once, the others of that minute as one
// with their number. Those who are known and those who are not have allowances
// of their own, so that nobody can crowd out somebody.
const (
	refusalEvery  = time.Minute
	refusalPause  = 30 * time.Second // between records of a class, once its burst is used up
	refusalBurst  = 120
	refusalsKept  = 512 // counted apart; more are counted together
	refusalAppend = 5 * time.Second
)

// refusals counts refused requests and puts them into the audit record.
type refusals struct {
	now    func() time.Time
	append func(store.AuditEntry)

	mu    sync.Mutex
	open  map[refusal]*tally
	known *rate.Limiter
	none  *rate.Limiter // of requests that came from nobody who is known
}

// refusal is what is counted together.
type refusal struct{ by, route, why string }

type tally struct {
	last  store.AuditEntry // the newest of them
	count int              // since the last record
	told  time.Time        // of the last record; zero: none yet
}

func newRefusals(now func() time.Time, write func(store.AuditEntry)) *refusals {
	return &refusals{now: now, append: write, open: map[refusal]*tally{},
		known: rate.NewLimiter(rate.Every(refusalPause), refusalBurst), none: rate.NewLimiter(rate.Every(refusalPause), refusalBurst)}
}

// add counts one refusal and records it if it is the first of its minute.
func (c *refusals) add(e store.AuditEntry) {
	key := refusal{e.By, e.Details["route"], e.Details["why"]}
	c.mu.Lock()
	of := c.open[key]
	if of == nil && len(c.open) >= refusalsKept {
		key, e.By, e.Via = refusal{why: "several"}, "", ""
		e.Details = map[string]string{"why": "several"}
		of = c.open[key]
	}
	if of == nil {
		of = &tally{}
		c.open[key] = of
	}
	of.last = e
	of.count++
	out := c.due(of)
	c.mu.Unlock()
	c.write(out)
}

// flush records what was counted and is due; with all, everything, which is for
// the end of the process.
func (c *refusals) flush(all bool) {
	c.mu.Lock()
	var out []store.AuditEntry
	keys := slices.SortedFunc(maps.Keys(c.open), func(a, b refusal) int { // who has waited longest first
		if order := c.open[a].last.At.Compare(c.open[b].last.At); order != 0 {
			return order
		}
		return strings.Compare(a.by+a.route+a.why, b.by+b.route+b.why)
	})
	for _, key := range keys {
		of := c.open[key]
		if all {
			of.told = time.Time{}
		}
		out = append(out, c.due(of)...)
		if of.count == 0 && c.now().Sub(of.told) >= refusalEvery {
			delete(c.open, key)
		}
	}
	c.mu.Unlock()
	c.write(out)
}

// due takes the record that may be written now out of a count, if there is one.
func (c *refusals) due(of *tally) []store.AuditEntry {
	now := c.now()
	limit := c.known
	if of.last.By == "" {
		limit = c.none
	}
	if of.count == 0 || !of.told.IsZero() && now.Sub(of.told) < refusalEvery || !limit.AllowN(now, 1) {
		return nil
	}
	e := of.last
	if of.count > 1 {
		e.Details = maps.Clone(e.Details)
		e.Details["count"] = strconv.Itoa(of.count)
	}
	of.count, of.told = 0, now
	return []store.AuditEntry{e}
}

func (c *refusals) write(out []store.AuditEntry) {
	for _, e := range out {
		c.append(e)
	}
}

// run writes counts every minute until ctx ends, and what is left then.
func (c *refusals) run(ctx context.Context) {
	tick := time.NewTicker(refusalEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.flush(false)
		case <-ctx.Done():
			c.flush(true)
			return
		}
	}
}

// changing tells whether a route changes something that others have to be able
// to read about.
func (rt Route) changing() bool {
	return !safe(rt.Method) && (rt.Policy == PolicySelf || rt.Policy == PolicyOperate || rt.Policy == PolicyAdmin)
}

// changingRoutes are those by method and pattern.
func changingRoutes(table []Route) map[string]Route {
	out := map[string]Route{}
	for _, rt := range table {
		if rt.changing() {
			out[rt.Method+" "+rt.Pattern] = rt
		}
	}
	return out
}

// noteRole records that somebody's role does not do.
func (s *Server) noteRole(r *http.Request, rt Route, who auth.Principal, need auth.Role) {
	if !rt.changing() || who.ID == "" {
		return
	}
	s.note(rt, who, chi.URLParam(r, "id"), map[string]string{"why": "role", "need": string(need), "have": string(who.Role)})
}

// refuseForeign answers a request that another site's page has made. Who is
// signed in at that browser is not looked up: they did not ask.
func (s *Server) refuseForeign(w http.ResponseWriter, r *http.Request) {
	match := chi.NewRouteContext()
	if s.mux.Match(match, r.Method, r.URL.EscapedPath()) {
		if rt, ok := s.changing[r.Method+" "+match.RoutePattern()]; ok {
			s.note(rt, auth.Principal{From: s.deps.Auth.ClientAddr(r)}, match.URLParam("id"), map[string]string{"why": "cross-site"})
		}
	}
	s.fail(w, r, fault.New(fault.Forbidden, "This request came from another site and was refused."))
}

func (s *Server) note(rt Route, who auth.Principal, subject string, details map[string]string) {
	details["route"] = rt.Method + " " + rt.Pattern
	if !recordName(subject) {
		subject = "" // whoever is refused does not choose what the record holds
	}
	s.refusals.add(store.AuditEntry{Cluster: s.deps.Watcher.Table().ClusterID, At: s.deps.Now(), By: who.ID, Via: string(who.Method), From: who.From,
		What: auditAccessRefused, Subject: subject, Outcome: "refused", Details: details})
}

// appendRefusal writes one record. Whoever was refused is not told when that
// fails: nothing was done.
func (s *Server) appendRefusal(e store.AuditEntry) {
	if h := s.condition().Hold; s.deps.Audit == nil || h == store.OwnedByAnother || h == store.OwnerGone {
		return // another process keeps the record
	}
	ctx, cancel := context.WithTimeout(context.Background(), refusalAppend)
	defer cancel()
	if _, err := s.deps.Audit.Append(ctx, e); err != nil {
		s.deps.Log.Error("record a refused request", "route", e.Details["route"], "by", e.By, "err", err)
	}
}
