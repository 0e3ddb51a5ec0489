package wanted

import (
	"regexp"
	"slices"
	"strings"

	"touchdown/backend/images/ref"
)

// podman returns the images of the podman commands of a line of a unit or of a script, and whether one has an image that
// cannot be made out. Podman's options are not known here, nor which of them take a value: the image is the first word behind
// run, create or pull that is a reference with a registry. Values of options do not look like that: paths begin with a slash,
// addresses have none, settings have an equals sign.
func podman(line string, vars map[string]string) (images []string, unclear bool) {
	found, want := true, false
	end := func() {
		if want && !found {
			unclear = true
		}
		want, found = false, true
	}
	state := "" // "" outside, "podman" behind its name, "image" behind run
	for _, word := range words(line) {
		bare := strings.Trim(word, `"'`)
		switch {
		case bare == "podman" || strings.HasSuffix(bare, "/podman"):
			end()
			state = "podman"
		case separator(bare):
			end()
			state = ""
		case state == "podman" && slices.Contains([]string{"run", "create", "pull"}, bare):
			state, found, want = "image", false, false
		case state == "image" && !strings.HasPrefix(bare, "-"):
			name := strings.TrimRight(expand(bare, vars), `;)"'`)
			if r, err := ref.Parse(name); err == nil && r.Host != "" {
				images, found, state = append(images, name), true, ""
				continue
			}
			want = want || strings.Contains(name, "$")
		}
		if strings.HasSuffix(bare, ";") {
			end()
			state = ""
		}
	}
	end()
	return images, unclear
}

func separator(word string) bool {
	return slices.Contains([]string{";", "&&", "||", "|", "&", "do", "done", "then", "fi", "until", "while"}, word)
}

// wordLimit bounds the words of a line.
const wordLimit = 10000

// words splits like a shell does as far as it matters here: blanks part words, also within quotes, because the commands lie in
// `bash -c "…"`; except that "A=b c" of a setting loses what is behind the blank, which no name of an image has.
func words(line string) []string {
	all := strings.Fields(line)
	if len(all) > wordLimit {
		all = all[:wordLimit]
	}
	for i, w := range all {
		all[i] = strings.Trim(w, `"'`)
	}
	return all
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)`)

// expand puts in what is known of variables; what is not stays.
func expand(word string, vars map[string]string) string {
	return variable.ReplaceAllStringFunc(word, func(text string) string {
		parts := variable.FindStringSubmatch(text)
		if value, ok := vars[parts[1]+parts[3]]; ok && value != "" {
			return value
		}
		if parts[2] != "" {
			return parts[2]
		}
		return text
	})
}
