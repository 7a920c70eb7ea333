package web

import (
	"net/http"
	"strings"

	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// advised is the state of now and what the rules find in it; an error where it is
// not known what people have dismissed.
func (s *Site) advised(r *http.Request) (View, rules.View, error) {
	v := s.viewFor(r)
	found := v.problems()
	return v, found, found.Err
}

func (s *Site) pageAdvice(w http.ResponseWriter, r *http.Request) error {
	v, found, err := s.advised(r)
	if err != nil {
		return err
	}
	who := auth.From(r.Context())
	m := adviceView(v, found, adviceMay{dismiss: found.Kept && s.whyReadOnly() == "" && who.May(auth.Operator), plan: s.mayPlan(who), whyNoPlan: s.whyNoPlan(who), try: s.tries(v)})
	return writePage(w, r, http.StatusOK, templates.AdvicePage(s.shell(r, v, "advise", words.T("nav.advise")), m))
}

// deed is the beginning of the audit entry of what somebody does.
func deed(r *http.Request) store.AuditEntry {
	who := auth.From(r.Context())
	return store.AuditEntry{By: who.ID, Via: string(who.Method), From: who.From}
}

func (s *Site) postDismiss(w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, func(a *rules.Advisor, id, reason string) error { return a.Dismiss(r.Context(), id, reason, deed(r)) })
}

func (s *Site) postRestore(w http.ResponseWriter, r *http.Request) error {
	return s.decide(w, r, func(a *rules.Advisor, id, _ string) error { return a.Restore(r.Context(), id, deed(r)) })
}

// decide does what a form of the page says, and leads back to it.
func (s *Site) decide(w http.ResponseWriter, r *http.Request, do func(a *rules.Advisor, id, reason string) error) error {
	if err := parseForm(r); err != nil {
		return err
	}
	id, reason, err := idAndReason(r.PostForm.Get("id"), r.PostForm.Get("reason"))
	if err == nil {
		err = do(s.deps.Advice, id, reason)
	}
	if err != nil {
		return err
	}
	seeOther(w, "/advice")
	return nil
}

func idAndReason(id, reason string) (string, string, error) {
	id, err := checkText("id", strings.TrimSpace(id))
	if err != nil {
		return "", "", err
	}
	reason, err = checkText("reason", strings.TrimSpace(reason))
	return id, reason, err
}
