package words

// english is the catalogue: key → sentence with {placeholders}, a file for
// each part of the product. Never written after start.
var english = assembled(
	pages,
	refusedSignIn,
	acting,
	audited,
	advising,
	problems,
	inflight,
	folding,
	orphaned,
	withheld,
)

// assembled joins the parts. A key in two of them would make one of its
// sentences unreachable, so that is a defect that no build gets past.
func assembled(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		for key, sentence := range part {
			if _, twice := all[key]; twice {
				panic("words: two sentences for " + key)
			}
			all[key] = sentence
		}
	}
	return all
}

// pages are the sentences of what everybody sees. Keys that end
// in .one and .many are chosen by a count. Codes of other packages follow a
// prefix (reason., method., can., event., …); the prefix's "other" sentence
// covers codes that this catalogue does not know yet.
var pages = map[string]string{
	// Around every page.
	"nav.overview":    "Overview",
	"nav.locate":      "Locate",
	"nav.projects":    "Projects",
	"nav.collections": "Collections",
	"nav.zones":       "Zones",
	"nav.activity":    "Activity",

	// Column headers.

	// The live dot.

	// Parts of the table and what can be wrong with them.

	// Collections.

	// Projects.

	// One project.

	// Locate.

	// Shard keys beside those of the known layouts.
	"nav.layout": "Layout",

	// Why it is there, why it does not move, and the proof.

	// The balancer's rules and what they say of a chunk.

	// Locate: how a question was understood, and ids taken apart.

}
