package locate

import (
	"net/http"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// pageDuplicates shows the check and what it found. While it runs, the browser
// asks again by itself: a header, so that it works without any script.
func PageDuplicates(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	report := report(s)
	if report.State == placement.CheckRunning {
		w.Header().Set("Refresh", "3")
	}
	sh := s.Shell(r, v, "locate", "Duplicate ids")
	may := auth.From(r.Context()).May(auth.Operator)
	m := duplicatesView(v, report, may && s.Deps.Duplicates != nil)
	if !may {
		m.Running = false // no button to stop it
		m.Needs = "To start or stop this check needs the role " + parts.RoleWord(auth.Operator) + "."
	}
	return site.WritePage(w, r, http.StatusOK, DuplicatesPage(sh, m))
}

// postDuplicates does what a button of the page says, and leads back to it. It
// reads the cluster and changes nothing of it.
func PostDuplicates(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	c, err := checker(s)
	if err != nil {
		return err
	}
	switch do := r.PostForm.Get("do"); do {
	case "start", "resume":
		err = c.Start(do == "resume", nil)
	case "stop":
		err = c.Stop()
	default:
		err = fault.New(fault.Invalid, "The form says neither start, resume nor stop.")
	}
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/checks/duplicates")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
