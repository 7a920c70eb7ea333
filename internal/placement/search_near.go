package placement

import (
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/sanitize"
)

// NoteNearName is the code of the note on an answer for a name that was not typed exactly.
const NoteNearName = "note.nearName"

// near looks for projects with names near to typed, which is none, and keeps them for the answer. It
// gives the project that is taken for it, when the question allows that. What may be a secret key is
// compared with nothing, so that no answer repeats it.
func (s *search) near(typed string) (Project, bool) {
	if typed = strings.TrimSpace(typed); keyShaped(typed) {
		return Project{}, false
	}
	near := s.dirs.Directory().Near(typed)
	if len(near.Projects) == 0 {
		return Project{}, false
	}
	if s.out.Near == nil {
		s.out.Near = &near
	}
	p, ok := near.Only()
	return p, ok && s.q.Near
}

func nearNote(typed string, p Project) message.Message {
	return message.New(NoteNearName, "You typed {typed}. No project has exactly this name; this is {project}.",
		message.Text("typed", sanitize.Truncate(typed, 200)), message.Project("project", p.ID.Hex(), p.Name))
}

// didYouMean is the end of a not-found sentence: a few near names. Whoever allows near names gets
// them as a list instead.
func (s *search) didYouMean() string {
	if s.q.Near || s.out.Near == nil {
		return ""
	}
	var names []string
	for _, p := range s.out.Near.Projects[:min(len(s.out.Near.Projects), 3)] {
		names = append(names, sanitize.Quoted(sanitize.Truncate(p.Name, 60)))
	}
	return " Did you mean " + strings.Join(names, " or ") + "?"
}
