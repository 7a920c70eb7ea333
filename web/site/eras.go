package site

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/web/templates"
)

// inTime fits what surrounds a page to the time that it shows. A page of the
// past has no live updates and offers nothing to do: what it shows is over.
func (s *Site) inTime(r *http.Request, v answer.View, sh *templates.Shell) {
	sh.Time = s.timeBar(r, v, sh.Nav)
	if m, err := s.Watching(r, v); err == nil {
		sh.Watching = m
	}
	if v.Past == nil {
		return
	}
	sh.Topics = nil
	sh.You.MayOperate, sh.You.MayAdmin = false, false
	sh.Status = api.Status{Level: "past", Text: "as of " + answer.FullInstant(v.Past.At), At: v.Past.At}
}

// eras are the balancer's settings over the time of a view's entries; nil when
// no history is kept or it cannot be read: then those of the table count.
func (s *Site) Eras(v answer.View) history.Eras {
	if s.KeepsHistory(v) != nil || len(v.Table.Events) == 0 {
		return nil
	}
	from := v.Table.Events[len(v.Table.Events)-1].Time
	if v.Past != nil {
		return s.readEras(v, from)
	}
	k := &s.settled
	k.Mu.Lock()
	defer k.Mu.Unlock()
	if age := v.Now.Sub(k.At); k.Eras == nil || age < 0 || age > answer.ErasFor || from.Before(k.From) {
		k.Eras, k.At, k.From = s.readEras(v, from), v.Now, from
	}
	return k.Eras
}

func (s *Site) readEras(v answer.View, from time.Time) history.Eras {
	ctx, cancel := context.WithTimeout(context.Background(), answer.ErasWait)
	defer cancel()
	eras, err := s.Deps.History.Eras(ctx, v.Table.ClusterID, from, v.Now)
	if err != nil {
		s.Deps.Log.Warn("history cannot be read", "err", err)
		return nil
	}
	return eras
}
