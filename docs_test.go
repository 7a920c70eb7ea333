package shardboard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

var (
	quoted   = regexp.MustCompile("`([^`\n]+)`")
	testName = regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w*$`)
	fileName = regexp.MustCompile(`^(?:[a-z][\w.-]*/)*[\w.-]+\.(?:go|md|templ|js|css|sql|mod|sum)$|^(?:internal|web|cmd|static|docs|test|tools|scripts)(?:/[\w.-]+)*/?$|^(?:Dockerfile|Makefile)$`)
	declared = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// declaredTests are the names of all tests of the repository.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = true
		}
		return err
	})
	must.Do(t, err)
	return names
}

// A security document that names a test which is gone, or a file that was
// moved, claims what nobody checks.
func TestWhatTheSecurityDocumentsCiteExists(t *testing.T) {
	tests := declaredTests(t)
	for _, doc := range []string{"docs/security.md", "docs/evidence.md", "SECURITY.md"} {
		text, err := os.ReadFile(doc)
		must.Do(t, err)
		cited := 0
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			switch name := m[1]; {
			case testName.MatchString(name):
				cited++
				expect.That(t, tests[name], "%s names %s, which is no test", doc, name)
			case fileName.MatchString(name):
				cited++
				expect.NoError(t, must.Err(os.Stat(name)), "%s names %s, which is not there", doc, name)
			}
		}
		if doc == "docs/evidence.md" && cited < 200 {
			t.Errorf("%s cites only %d tests and files; the scan is broken", doc, cited)
		}
	}
}

// At 240 words a minute, which is how fast people read such texts.
func TestTheSecurityPageIsReadInTenMinutes(t *testing.T) {
	text := must.Get(os.ReadFile("docs/security.md"))
	if n := len(word.FindAll(text, -1)); n > 2400 {
		t.Errorf("docs/security.md has %d words; what is evidence belongs into docs/evidence.md", n)
	}
}

// Every requirement of levels 1 and 2 has one row, or is in the range of one.
func TestTheSecurityDocumentAnswersEveryRequirement(t *testing.T) {
	text := must.Get(os.ReadFile("docs/evidence.md"))
	answered, all := map[string]int{}, strings.Fields(requirements)
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !regexp.MustCompile(`^ \d+\.\d+\.\d+`).MatchString(cells[1]) {
			continue
		}
		for _, ids := range strings.Split(cells[1], ",") {
			first, last, isRange := strings.Cut(strings.TrimSpace(ids), "–")
			answered[first]++
			for i := slices.Index(all, first) + 1; isRange && i < len(all) && all[i-1] != last; i++ {
				answered[all[i]]++
			}
		}
		state, why := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])
		if state != "met" && state != "in part" && state != "**not met**" && state != "n/a" || why == "" {
			t.Errorf("%s: state %q, %q", strings.TrimSpace(cells[1]), state, why)
		}
	}
	for _, id := range all {
		expect.That(t, answered[id] == 1, "%s has %d rows", id, answered[id])
		delete(answered, id)
	}
	for id := range answered {
		t.Errorf("%s is no requirement of level 1 or 2", id)
	}
}

// requirements are the numbers of OWASP ASVS 5.0.0 at levels 1 and 2.
const requirements = `
1.1.1 1.1.2
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.2.6 1.2.7 1.2.8 1.2.9
1.3.1 1.3.2 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11
1.4.1 1.4.2 1.4.3
1.5.1 1.5.2
2.1.1 2.1.2 2.1.3
2.2.1 2.2.2 2.2.3
2.3.1 2.3.2 2.3.3 2.3.4
2.4.1
3.2.1 3.2.2
3.3.1 3.3.2 3.3.3 3.3.4
3.4.1 3.4.2 3.4.3 3.4.4 3.4.5 3.4.6
3.5.1 3.5.2 3.5.3 3.5.4 3.5.5
3.7.1 3.7.2
4.1.1 4.1.2 4.1.3
4.2.1
4.3.1 4.3.2
4.4.1 4.4.2 4.4.3 4.4.4
5.1.1
5.2.1 5.2.2 5.2.3
5.3.1 5.3.2
5.4.1 5.4.2 5.4.3
6.1.1 6.1.2 6.1.3
6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7 6.2.8 6.2.9 6.2.10 6.2.11 6.2.12
6.3.1 6.3.2 6.3.3 6.3.4
6.4.1 6.4.2 6.4.3 6.4.4
6.5.1 6.5.2 6.5.3 6.5.4 6.5.5
6.6.1 6.6.2 6.6.3
6.8.1 6.8.2 6.8.3 6.8.4
7.1.1 7.1.2 7.1.3
7.2.1 7.2.2 7.2.3 7.2.4
7.3.1 7.3.2
7.4.1 7.4.2 7.4.3 7.4.4 7.4.5
7.5.1 7.5.2
7.6.1 7.6.2
8.1.1 8.1.2
8.2.1 8.2.2 8.2.3
8.3.1
8.4.1
9.1.1 9.1.2 9.1.3
9.2.1 9.2.2 9.2.3 9.2.4
10.1.1 10.1.2
10.2.1 10.2.2
10.3.1 10.3.2 10.3.3 10.3.4
10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 10.4.6 10.4.7 10.4.8 10.4.9 10.4.10 10.4.11
10.5.1 10.5.2 10.5.3 10.5.4 10.5.5
10.6.1 10.6.2
10.7.1 10.7.2 10.7.3
11.1.1 11.1.2
11.2.1 11.2.2 11.2.3
11.3.1 11.3.2 11.3.3
11.4.1 11.4.2 11.4.3 11.4.4
11.5.1
11.6.1
12.1.1 12.1.2 12.1.3
12.2.1 12.2.2
12.3.1 12.3.2 12.3.3 12.3.4
13.1.1
13.2.1 13.2.2 13.2.3 13.2.4 13.2.5
13.3.1 13.3.2
13.4.1 13.4.2 13.4.3 13.4.4 13.4.5
14.1.1 14.1.2
14.2.1 14.2.2 14.2.3 14.2.4
14.3.1 14.3.2 14.3.3
15.1.1 15.1.2 15.1.3
15.2.1 15.2.2 15.2.3
15.3.1 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7
16.1.1
16.2.1 16.2.2 16.2.3 16.2.4 16.2.5
16.3.1 16.3.2 16.3.3 16.3.4
16.4.1 16.4.2 16.4.3
16.5.1 16.5.2 16.5.3
17.1.1
17.2.1 17.2.2 17.2.3 17.2.4
17.3.1 17.3.2
`

var markdownLink = regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)]*)?\)`)

// A page that the index does not lead to is read by nobody.
func TestEveryPageOfTheDocumentationIsReachedFromTheIndex(t *testing.T) {
	const index = "docs/README.md"
	reached := map[string]bool{index: true}
	for open := []string{index}; len(open) > 0; open = open[1:] {
		text, err := os.ReadFile(open[0])
		must.Do(t, err)
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			to := filepath.Join(filepath.Dir(open[0]), m[1])
			if strings.Contains(m[1], "://") || reached[to] {
				continue
			}
			reached[to] = true
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s, which is not there", open[0], to)
			} else if strings.HasPrefix(to, "docs/") && strings.HasSuffix(to, ".md") {
				open = append(open, to)
			}
		}
	}
	pages := 0
	err := filepath.WalkDir("docs", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".md") {
			return err
		}
		pages++
		expect.That(t, reached[path], "no page leads to %s: add it to %s", path, index)
		return nil
	})
	must.That(t, err == nil && pages >= 40, "%d pages, %v", pages, err)
	text, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(text), "("+index+")") {
		t.Errorf("README.md does not lead to %s: %v", index, err)
	}
}

// generated are the parts of pages that a test writes, or holds to the program row by row.
var generated = regexp.MustCompile(`(?s)<!-- (?:(?:kinds|arguments): [^>]*-->.*?<!-- end of (?:kinds|arguments) -->|(?:commands|exit codes|resources|settings|cluster|server|rules) -->.*?<!-- end -->)`)

var word = regexp.MustCompile(`\S*\w\S*`)

// Length is a cost for every reader. The playbooks and runbooks are texts of the program, and do not count.
func TestTheDocumentationStaysShort(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))
	words, tables := 0, 0
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))
		tables += len(generated.FindAll(text, -1))
		words += len(word.FindAll(generated.ReplaceAll(text, nil), -1))
	}
	if len(pages) > 30 || words > 30_000 || tables < 9 {
		t.Errorf("%d pages with %d words, without %d generated tables", len(pages), words, tables)
	}
}

// A heading that is renamed leaves links behind that lead to the beginning of its page.
func TestLinksOfTheDocumentationLeadToTheirHeading(t *testing.T) {
	heading, links := regexp.MustCompile(`(?m)^#+ (.+)$`), 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "deploy/*/README.md"} {
		pages := must.Get(filepath.Glob(pattern))
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			for _, m := range regexp.MustCompile(`\]\(([^)\s:#]*)#([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
				links++
				to := page
				if m[1] != "" {
					to = filepath.Join(filepath.Dir(page), m[1])
				}
				target, err := os.ReadFile(to)
				expect.That(t, err == nil, "%s: %v", page, err)
				if !slices.ContainsFunc(heading.FindAllStringSubmatch(string(target), -1), func(h []string) bool { return anchor(h[1]) == m[2] }) {
					t.Errorf("%s leads to %s#%s, which is no heading", page, to, m[2])
				}
			}
		}
	}
	expect.That(t, links >= 40, "only %d links", links)
}

// anchor is what a link to a heading ends with.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// notForReaders are pages that state facts, so that a sentence about what their reader can do would say nothing.
var notForReaders = []string{"docs/figures.md"}

func TestEachPageSaysFirstWhatItsReaderWillKnow(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))
	books, err := filepath.Glob("docs/playbooks/*.md")
	must.That(t, err == nil && len(books) != 0, "%v %v", books, err)
	for _, page := range append(pages, books...) {
		text := must.Get(os.ReadFile(page))
		parts := strings.SplitN(string(text), "\n\n", 3)
		if len(parts) < 3 || !strings.HasPrefix(parts[0], "# ") {
			t.Errorf("%s does not begin with a title", page)
		} else if !strings.HasPrefix(parts[1], "After this page") && !slices.Contains(notForReaders, page) {
			t.Errorf("%s does not say first what its reader can do after it", page)
		}
	}
}

// What a playbook quotes is looked for on a page at 3 a.m.: it has to be there as written. The simulated cluster has
// the texts of MongoDB.
func TestPlaybooksQuoteWhatTheProgramSays(t *testing.T) {
	var program strings.Builder
	for _, folder := range []string{"internal", "web"} {
		err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") ||
				!strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".templ") {
				return err
			}
			text, err := os.ReadFile(path)
			program.Write(text)
			return err
		})
		must.Do(t, err)
	}
	code := regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	words := regexp.MustCompile(`"([^"]+)"`)
	books := must.Get(filepath.Glob("docs/playbooks/*.md"))
	n := 0
	for _, page := range books {
		text := must.Get(os.ReadFile(page))
		for _, m := range words.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			n++
			if quote := strings.Join(strings.Fields(m[1]), " "); !strings.Contains(program.String(), quote) {
				t.Errorf("%s quotes %q, which the program does not say", page, quote)
			}
		}
	}
	expect.That(t, n >= 12, "only %d quotations", n)
}

// Lines longer than this are cut in a terminal and in reviews. A row of a table cannot be broken.
func TestLinesOfTheDocumentationFitOnAScreen(t *testing.T) {
	for _, folder := range []string{"docs/*.md", "docs/playbooks/*.md", "docs/runbooks/*.md"} {
		pages := must.Get(filepath.Glob(folder))
		for _, page := range pages {
			text := must.Get(os.ReadFile(page))
			inCode := false
			for i, line := range strings.Split(string(text), "\n") {
				inCode = inCode != strings.HasPrefix(strings.TrimSpace(line), "```")
				if !inCode && !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > longestLine {
					t.Errorf("%s:%d has more than %d characters", page, i+1, longestLine)
				}
			}
		}
	}
}
