package cluster

import (
	"errors"

	"shardboard/internal/topology"
)

// skippedDocs counts documents that could not be decoded.
type skippedDocs struct{ topology.SkippedError }

func skipping(what string) *skippedDocs { return &skippedDocs{topology.SkippedError{What: what}} }

func (s *skippedDocs) add(err error) {
	if s.Count == 0 {
		s.First = err
	}
	s.Count++
}

// err is nil if no document was skipped.
func (s *skippedDocs) err() error {
	if s.Count == 0 {
		return nil
	}
	return &s.SkippedError
}

// partial reports whether rows came with the error.
func partial(err error) bool {
	var s *topology.SkippedError
	return err == nil || errors.As(err, &s)
}
