package engine

import "shardboard/internal/fault"

// failedBy keeps the sentence of an error, whole for those who may see what the
// server wrote and without that for everybody else. No error is no sentence.
func (s *Step) failedBy(err error) {
	s.Error, s.Brief = "", ""
	if err != nil {
		s.Error, s.Brief = fault.Text(err), fault.Brief(err)
	}
}
