package advice

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/rules"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// advised is the state of now and what the rules find in it; an error where it is
// not known what people have dismissed.
func advised(s *site.Site, r *http.Request) (answer.View, rules.View, error) {
	v := s.ViewFor(r)
	found := v.Problems()
	return v, found, found.Err
}

func PageAdvice(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, found, err := advised(s, r)
	if err != nil {
		return err
	}
	who := auth.From(r.Context())
	m := adviceView(v, found, answer.AdviceMay{Dismiss: found.Kept && s.WhyReadOnly() == "" && who.May(auth.Operator), Plan: s.MayPlan(who), WhyNoPlan: s.WhyNoPlan(who), Try: s.Tries(v)})
	return site.WritePage(w, r, http.StatusOK, AdvicePage(s.Shell(r, v, "advise", "Advice"), m))
}

func PostDismiss(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decide(s, w, r, func(a *rules.Advisor, id, reason string) error {
		return a.Dismiss(r.Context(), id, reason, parts.Deed(r))
	})
}

func PostRestore(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return decide(s, w, r, func(a *rules.Advisor, id, _ string) error { return a.Restore(r.Context(), id, parts.Deed(r)) })
}

// decide does what a form of the page says, and leads back to it.
func decide(s *site.Site, w http.ResponseWriter, r *http.Request, do func(a *rules.Advisor, id, reason string) error) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	id, reason, err := answer.IdAndReason(r.PostForm.Get("id"), r.PostForm.Get("reason"))
	if err == nil {
		err = do(s.Deps.Advice, id, reason)
	}
	if err != nil {
		return err
	}
	site.SeeOther(w, "/advice")
	return nil
}
