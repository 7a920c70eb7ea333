package engine

import "shardboard/internal/fault"

// failedBy keeps the text of an error twice: in full for those who may read what the
// server wrote, and without the server's own words for everybody else.
func (s *Step) failedBy(err error) {
	s.Error, s.Brief = "", ""
	if err != nil {
		s.Error, s.Brief = fault.Text(err), fault.Brief(err)
	}
}
