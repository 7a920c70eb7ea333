package realsuite_test

import (
	"runtime"
	"testing"
)

// standIn is a test whose outcome another test looks at.
type standIn struct {
	testing.TB
	failed, skipped bool
	cleanups        []func()
}

func (s *standIn) Helper()               {}
func (s *standIn) Cleanup(f func())      { s.cleanups = append(s.cleanups, f) }
func (s *standIn) Logf(string, ...any)   {}
func (s *standIn) Error(...any)          { s.failed = true }
func (s *standIn) Errorf(string, ...any) { s.failed = true }
func (s *standIn) Fatal(...any)          { s.failed = true; runtime.Goexit() }
func (s *standIn) SkipNow()              { s.skipped = true; runtime.Goexit() }
func (s *standIn) Failed() bool          { return s.failed }
func (s *standIn) Skipped() bool         { return s.skipped }
