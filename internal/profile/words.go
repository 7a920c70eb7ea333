package profile

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
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

// ourWords are the words that a profile may replace, with their article.
var ourWords = regexp.MustCompile(`(\b[Aa]n? )?(Yorkie documents?|[Pp]rojects?)`)

// Words puts a sentence of ours, which speaks of projects and Yorkie documents, into the profile's words. It is for
// patterns, before names of other people are put in. Names of commands, fields and addresses, such as split-project,
// project_id and /projects, stay as they are.
func (p *Profile) Words(sentence string) string {
	if p == nil || p.Tenants.Many == "" && p.Called.Many == "" {
		return sentence
	}
	var b strings.Builder
	at := 0
	for _, m := range ourWords.FindAllStringSubmatchIndex(sentence, -1) {
		word := p.word(sentence[m[4]:m[5]])
		if word == "" || partOfName(sentence[:m[4]], sentence[m[5]:]) {
			continue
		}
		b.WriteString(sentence[at:m[0]])
		if m[2] >= 0 {
			b.WriteString(sentence[m[2]:m[2]+1] + articleOf(word)[1:] + " ")
		}
		b.WriteString(word)
		at = m[1]
	}
	return b.String() + sentence[at:]
}

// Format is Words for a format of package fmt: a percent sign in a word of the profile stays one.
func (p *Profile) Format(format string) string {
	if p == nil {
		return format
	}
	escape := func(c Called) Called {
		return Called{One: strings.ReplaceAll(c.One, "%", "%%"), Many: strings.ReplaceAll(c.Many, "%", "%%")}
	}
	return (&Profile{Tenants: escape(p.Tenants), Called: escape(p.Called)}).Words(format)
}

// word is what the profile says for one of our words; "" if it leaves that as it is.
func (p *Profile) word(ours string) string {
	called := p.Tenants
	if strings.HasPrefix(ours, "Yorkie") {
		called = p.Called
	}
	word := called.One
	if strings.HasSuffix(ours, "s") {
		word = called.Many
	}
	if strings.HasPrefix(ours, "P") {
		return word
	}
	return lower(word)
}

// partOfName tells whether a word between two texts is a part of a longer name.
func partOfName(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return strings.ContainsRune("-_/.{$=", last) || nameLetter(last) || strings.ContainsRune("_}=", next) || nameLetter(next) ||
		next == '-' && !strings.HasPrefix(after, "-wide")
}

func nameLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

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
