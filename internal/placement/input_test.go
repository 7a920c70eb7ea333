package placement

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/fault"
	"shardboard/internal/placement/ids"
)

const (
	hexA   = "507f1f77bcf86cd799439011"
	hexB   = "65f0c0ffee65f0c0ffee65f0"
	uuid   = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
	apiKey = "mBhLWpJwJ5Gq4mD2VRhYvK" // looks like a project's key
)

// readingsOnOneLine formats the readings on one line.
func readingsOnOneLine(in Input) string {
	var out []string
	for _, r := range in.Readings {
		s := string(r.Form)
		if r.Project != "" || r.Key != "" {
			s += fmt.Sprintf(" %q %q", r.Project, r.Key)
		}
		if r.Form == FormReference {
			s += " " + r.Kind + " " + r.ProjectID.Hex() + "." + r.ID.Hex()
		}
		if r.Form == FormID {
			s += " " + r.ID.Hex()
		}
		if (r.UUID != ids.UUID{}) {
			s += " " + r.UUID.String()
		}
		out = append(out, s)
	}
	return strings.Join(out, " | ")
}

func TestKindOfInputIsRecognized(t *testing.T) {
	for text, want := range map[string]string{
		"app":                                  `project "app" ""`,
		"app/doc":                              `documentKey "app" "doc"`,
		"app/a/b c":                            `documentKey "app" "a/b c"`,
		"app / doc":                            `documentKey "app" " doc"`, // a key may begin with a space
		"app/":                                 `documentKey "app" ""`,
		hexA:                                   "id " + hexA,
		`ObjectId("` + hexA + `")`:             "id " + hexA,
		`{"$oid": "` + hexA + `"}`:             "id " + hexA,
		"Document (" + hexA + "." + hexB + ")": "reference document " + hexA + "." + hexB,
		"Client (" + hexA + "." + hexB + ")":   "reference client " + hexA + "." + hexB,
		hexA + "." + hexB:                      "reference  " + hexA + "." + hexB,
		"2026-11-21T10:00:00Z ERROR yorkie/packs.go:12 push Document (" + hexA + "." + hexB + ") by Client (" + hexA + "." + hexA +
			"): timeout, again Document (" + hexA + "." + hexB +
			")": "reference document " + hexA + "." + hexB + " | reference client " + hexA + "." + hexA,
		"lock " + hexA + "." + hexB + " is held":                   "reference  " + hexA + "." + hexB,
		"app/" + hexA + "." + hexB + "-and-more-text":              `documentKey "app" "` + hexA + "." + hexB + `-and-more-text"`,
		"https://dash.example/projects/app/documents/doc":          `dashboard "app" "doc"`,
		"HTTPS://user:pw@x:1/y/projects/app/documents/doc?tab=1#x": `dashboard "app" "doc"`,
		"http://x/projects/a%2Fb/documents/k%20%2Fz":               `dashboard "a/b" "k /z"`,
		"http://x/projects/app/documents/k/history":                `dashboard "app" "k/history" | dashboard "app" "k"`,
		"http://x/projects/app":                                    `dashboard "app" ""`,
		"http://x/projects/app/documents/":                         `dashboard "app" ""`,
		"/projects/app/documents/doc":                              `dashboard "app" "doc"`,
		"dash.example/projects/app/documents/doc":                  `dashboard "app" "doc" | documentKey "dash.example" "projects/app/documents/doc"`,
		"projects/x/documents/y":                                   `documentKey "projects" "x/documents/y"`,
		"http://x/other":                                           `project "http://x/other" ""`,
		uuid:                                                       "uuid " + uuid,
		"{" + strings.ToUpper(uuid) + "}":                          "uuid " + uuid,
		`{"$gt": ""}`:                                              `project "{\"$gt\": \"\"}" ""`,
		"\u202Egpj.exe":                                            "project \"\\u202egpj.exe\" \"\"",
	} {
		in, err := ReadInput(text)
		if got := readingsOnOneLine(in); err != nil || got != want {
			t.Errorf("%q:\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
	for _, text := range []string{"http://x/projects/a%zz/documents/k", "http://x/projects/a/documents/%00",
		"http://x/projects/a/documents/%ff"} {
		if _, err := ReadInput(text); fault.Of(err) != fault.Invalid {
			t.Errorf("%q: %v, want kind %v", text, err, fault.Invalid)
		}
	}
}

func TestKeyShapedTextIsRecognized(t *testing.T) {
	for text, want := range map[string][2]bool{
		apiKey: {true, true}, apiKey + "/doc": {true, true}, "app/" + apiKey: {true, false}, "Authorization: API-Key " + apiKey: {true, false},
		"http://x/projects/" + apiKey: {true, true}, "app": {}, hexA: {}, uuid: {}, apiKey + "x": {}, apiKey[1:]: {},
	} {
		in, err := ReadInput(text)
		if err != nil || in.KeyShaped != want[0] || in.ProjectKeyShaped != want[1] {
			t.Errorf("%q: %v %v, %v", text, in.KeyShaped, in.ProjectKeyShaped, err)
		}
	}
}

func FuzzInputAlwaysHasAReading(f *testing.F) {
	for _, s := range []string{"app/doc", "Document (" + hexA + "." + hexB + ")", "http://x/projects/a/documents/b%20", uuid, apiKey,
		`ObjectId("` + hexA + `")`, "/", "a.b/projects/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.TrimSpace(s); checkText(s) != nil || s == "" {
			return
		}
		in, err := ReadInput(s)
		if err != nil {
			if fault.Of(err) != fault.Invalid {
				t.Fatalf("got %v, want kind %v", err, fault.Invalid)
			}
			return
		}
		if len(in.Readings) == 0 || len(in.Readings) > maxReferences {
			t.Fatalf("%q: %d readings", s, len(in.Readings))
		}
		for _, r := range in.Readings {
			if r.Form == "" || checkText(r.Key) != nil || checkText(r.Project) != nil {
				t.Errorf("%q: %+v", s, r)
			}
		}
		if in.ProjectKeyShaped && !in.KeyShaped {
			t.Errorf("%q: the project's part is key-shaped, but the input is not reported as such", s)
		}
	})
}
