package site

import (
	"net/http"

	"shardboard/internal/answer"
)

// loaded is the newest view, once there is one to answer from.
func (s *Site) Loaded(r *http.Request) (answer.View, error) {
	v := s.ViewFor(r)
	if !v.Table.Loaded {
		return v, v.Table.NotLoaded()
	}
	return v, nil
}
