package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"shardboard/internal/history"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// inTime fits what surrounds a page to the time that it shows. A page of the
// past has no live updates and offers nothing to do: what it shows is over.
func (s *Site) inTime(r *http.Request, v View, sh *templates.Shell) {
	sh.Time = s.timeBar(r, v, sh.Nav)
	if m, err := s.watching(r, v); err == nil {
		sh.Watching = m
	}
	if v.Past == nil {
		return
	}
	sh.Topics = nil
	sh.You.MayOperate, sh.You.MayAdmin = false, false
	sh.Status = templates.Status{Level: "past", Text: words.T("status.past", "at", fullInstant(v.Past.At)), At: v.Past.At}
}

// runs are ours of a time.
func (v View) runs(from, to time.Time) []history.OurRun {
	if v.Runs == nil {
		return nil
	}
	return v.Runs(from, to)
}

// migrations are the moves that the table's changelog entries tell of.
func (v View) migrations() []history.Migration {
	if len(v.Table.Events) == 0 {
		return nil
	}
	oldest := v.Table.Events[len(v.Table.Events)-1].Time
	eras := v.Eras
	if eras == nil {
		eras = history.NowEras(v.Table)
	}
	t := *v.Table
	if v.Past != nil {
		t.Rounds = v.Past.Rounds
	}
	return settleFlights(v, history.Migrations(&t, v.Now, v.runs(oldest, v.Now), eras))
}

// erasFor is how long the balancer's past settings are good for: they are read
// for a region that is drawn with every change.
const (
	erasFor  = 30 * time.Second
	erasWait = 2 * time.Second
)

// settledEras are the settings that were read last.
type settledEras struct {
	mu   sync.Mutex
	at   time.Time
	from time.Time
	eras history.Eras
}

// eras are the balancer's settings over the time of a view's entries; nil when
// no history is kept or it cannot be read: then those of the table count.
func (s *Site) eras(v View) history.Eras {
	if s.keepsHistory(v) != nil || len(v.Table.Events) == 0 {
		return nil
	}
	from := v.Table.Events[len(v.Table.Events)-1].Time
	if v.Past != nil {
		return s.readEras(v, from)
	}
	k := &s.settled
	k.mu.Lock()
	defer k.mu.Unlock()
	if age := v.Now.Sub(k.at); k.eras == nil || age < 0 || age > erasFor || from.Before(k.from) {
		k.eras, k.at, k.from = s.readEras(v, from), v.Now, from
	}
	return k.eras
}

func (s *Site) readEras(v View, from time.Time) history.Eras {
	ctx, cancel := context.WithTimeout(context.Background(), erasWait)
	defer cancel()
	eras, err := s.deps.History.Eras(ctx, v.Table.ClusterID, from, v.Now)
	if err != nil {
		s.deps.Log.Warn("history cannot be read", "err", err)
		return nil
	}
	return eras
}
