package web_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/web/storybook"
	"shardboard/web/webtest"
)

// TestEveryFieldHasALabelAndSaysWhatItHolds looks at every form of sign-in and
// settings, in every state.
func TestEveryFieldHasALabelAndSaysWhatItHolds(t *testing.T) {
	fields := 0
	for _, sc := range append(storybook.SignInScenes(), storybook.AccountScenes()...) {
		doc := webtest.ParseHTML(t, sc.Open(t))
		doc.Find("main input:not([type=hidden]):not([aria-hidden]), main select").Each(func(_ int, f *goquery.Selection) {
			fields++
			name := f.AttrOr("name", "?")
			id, has := f.Attr("id")
			if f.ParentsFiltered("label").Length() == 0 && (!has || doc.Find("label[for='"+id+"']").Length() != 1) {
				t.Errorf("%s: %s has no label", sc.Name, name)
			}
			if f.Is("input") && f.AttrOr("autocomplete", "") == "" {
				t.Errorf("%s: %s has no autocomplete", sc.Name, name)
			}
			if f.AttrOr("type", "") == "password" && !strings.Contains(f.AttrOr("autocomplete", ""), "-password") {
				t.Errorf("%s: %s is a password and does not say whose", sc.Name, name)
			}
		})
		if n := doc.Find("form:not([method=post]):not([role=search]):not([method=dialog])").Length(); n > 0 {
			t.Errorf("%s: %d forms are no POST", sc.Name, n)
		}
	}
	if fields < 30 {
		t.Errorf("only %d fields", fields)
	}
}

func TestPagesBeforeSignInShowNothingOfTheCluster(t *testing.T) {
	for _, sc := range storybook.SignInScenes() {
		html := sc.Open(t)
		doc := webtest.ParseHTML(t, html)
		for _, sel := range []string{"h1", "main#main", "a.skip[href='#main']", "title"} {
			if doc.Find(sel).Length() != 1 {
				t.Errorf("%s: %d of %s", sc.Name, doc.Find(sel).Length(), sel)
			}
		}
		for _, secret := range []string{"mongodb://", "shard-rs", "data-topics", "5.0.7", "/collections"} {
			if strings.Contains(html, secret) && !(secret == "/collections" && strings.Contains(sc.Name, "ended")) {
				t.Errorf("%s shows %s", sc.Name, secret)
			}
		}
	}
}
