package profile

import (
	"strings"
	"unicode"
)

// DocumentWords is what a document and several are called at the begin of a line.
func (p *Profile) DocumentWords() Called {
	if p == nil || p.Called.Many == "" {
		return Called{One: "Yorkie document", Many: "Yorkie documents"}
	}
	return p.Called
}

// TenantWords is what a project and several are called at the begin of a line.
func (p *Profile) TenantWords() Called {
	if p == nil || p.Tenants.Many == "" {
		return Called{One: "Project", Many: "Projects"}
	}
	return p.Tenants
}

// Words puts a sentence of ours, which speaks of projects and Yorkie documents, into the profile's words. It is for
// patterns, before names of other people are put in.
func (p *Profile) Words(sentence string) string {
	if p == nil || p.Tenants.Many == "" && p.Called.Many == "" {
		return sentence
	}
	var pairs []string
	word := func(ours, theirs string) {
		for _, article := range []string{"a ", "an "} {
			pairs = append(pairs, article+ours, articleOf(theirs)+" "+theirs)
		}
		pairs = append(pairs, ours, theirs)
	}
	document, tenant := p.DocumentWords(), p.TenantWords()
	if p.Called.Many != "" {
		word("Yorkie documents", lower(document.Many))
		word("Yorkie document", lower(document.One))
	}
	if p.Tenants.Many != "" {
		word("projects", lower(tenant.Many))
		word("project", lower(tenant.One))
		pairs = append(pairs, "Projects", tenant.Many, "Project", tenant.One)
	}
	return strings.NewReplacer(pairs...).Replace(sentence)
}

// lower is a word inside of a sentence: an abbreviation stays as it is.
func lower(s string) string {
	if len(s) > 1 && unicode.IsUpper(rune(s[1])) {
		return s
	}
	return strings.ToLower(s)
}

func articleOf(s string) string {
	if s != "" && strings.ContainsRune("aeiou", unicode.ToLower(rune(s[0]))) {
		return "an"
	}
	return "a"
}
