package cluster

import (
	"errors"

	"shardboard/internal/topology"
)

// skips counts documents that are not understood.
type skips struct{ topology.SkippedError }

func skipping(what string) *skips { return &skips{topology.SkippedError{What: what}} }

func (s *skips) add(err error) {
	if s.Count == 0 {
		s.First = err
	}
	s.Count++
}

// err is nil when nothing was left out.
func (s *skips) err() error {
	if s.Count == 0 {
		return nil
	}
	return &s.SkippedError
}

// readable reports whether rows came with the error.
func readable(err error) bool {
	var s *topology.SkippedError
	return err == nil || errors.As(err, &s)
}
