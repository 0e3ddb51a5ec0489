package tui

import (
	"reflect"

	"touchdown/backend/message"
	"touchdown/steps/view"
)

// germanData are the examples of the scenes, which no catalogue has, as they would be in German. What is a name or an address stays.
var germanData = map[string]string{
	"The domain of the site. The cluster answers at api.NAME.DOMAIN and *.apps.NAME.DOMAIN.": "Die Domain des Standorts. Der Cluster antwortet unter api.NAME.DOMAIN und *.apps.NAME.DOMAIN.",
	"eno1, 10 Gbit/s, link": "eno1, 10 Gbit/s, Link", "eno2, no link": "eno2, kein Link",
	"Processors": "Prozessoren", "16 threads": "16 Threads", "at least 8": "mindestens 8", "Memory": "Arbeitsspeicher",
	"at least 16 GiB": "mindestens 16 GiB", "Disk for the system": "Systemplatte", "at least 120 GB": "mindestens 120 GB",
	"Network cable": "Netzwerkkabel", "2 of 2 with a cable": "2 von 2 mit Kabel", "at least 1": "mindestens 1",
	"Clock": "Uhr", "no time server answers": "kein Zeitserver antwortet", "one that answers": "einer, der antwortet",
	"Connect the site's time server, or set the clock in the firmware.": "Den Zeitserver des Standorts anschließen oder die Uhr in der Firmware stellen.",
	"Security chip": "Sicherheitschip", "there is none": "es gibt keinen", "What the cluster is called now": "Wie der Cluster jetzt heißt",
	"the site brings none": "der Standort bringt keine mit", "Clock: no time server answers.": "Uhr: kein Zeitserver antwortet.",
	"Applications": "Anwendungen", "Certificate": "Zertifikat", "API outage": "API nicht erreichbar",
	"for api.store0042.example.com, made by the cluster":                                  "für api.store0042.example.com, vom Cluster ausgestellt",
	"kube-apiserver restarts":                                                             "kube-apiserver startet neu",
	"Logins made before the move end.":                                                    "Anmeldungen von vor dem Umzug enden.",
	"operator authentication":                                                             "Operator authentication",
	"Wrote the new names.":                                                                "Die neuen Namen sind geschrieben.",
	"kube-apiserver runs revision 9.":                                                     "kube-apiserver läuft mit Revision 9.",
	"12 operators have taken the new names.":                                              "12 Operatoren haben die neuen Namen übernommen.",
	"The operator authentication cannot reach its own address.":                           "Der Operator authentication erreicht seine eigene Adresse nicht.",
	"Ask the site for the DNS record *.apps.store0042.example.com, then retry.":           "Den Standort um den DNS-Eintrag *.apps.store0042.example.com bitten, dann erneut versuchen.",
	"Login page answers":                                                                  "Anmeldeseite antwortet",
	"Two of five network probes failed. Keep the new network settings?":                   "Zwei von fünf Netzprüfungen sind gescheitert. Die neuen Netzeinstellungen behalten?",
	"Keeping them goes on with the new address. Putting them back returns to the review.": "Werden sie behalten, geht es mit der neuen Adresse weiter. Sonst geht es zurück zur Durchsicht.",
	"The node's address at this site":                                                     "Die Adresse des Knotens an diesem Standort",
	"Operators":                                                                           "Operatoren",
	"33 of 33 well":                                                                       "33 von 33 gesund",
	"Node":                                                                                "Knoten",
	"rollouts: RLT-DNS the operator authentication cannot reach its own address": "rollouts: RLT-DNS der Operator authentication erreicht seine eigene Adresse nicht",
	"the operators to take the old names":                                        "dass die Operatoren die alten Namen übernehmen",
	"Base domain: this is needed.":                                               "Basis-Domain: dies ist nötig.",
	"Disk for the system: 60 GB, needed are 120 GB.":                             "Systemplatte: 60 GB, nötig sind 120 GB.",
	"disk full: the journal keeps its last entries in memory":                    "Platte voll: das Journal hält seine letzten Einträge im Speicher",
	"a name has letters, digits and hyphens; leave out the underscore":           "ein Name hat Buchstaben, Ziffern und Striche; den Unterstrich weglassen",
	"Red Hat, minimum for one node":                                              "Red Hat, Minimum für einen Knoten",
}

// inGerman is a snapshot with the examples of the scenes in German, in letters that the terminal has.
func inGerman(ascii bool) func(*view.Snapshot) {
	spell := func(text string) string {
		german, ok := germanData[text]
		if !ok {
			return text
		}
		if ascii {
			german = unaccented(germanASCII.Replace(german))
		}
		return german
	}
	return func(s *view.Snapshot) { respell(reflect.ValueOf(s).Elem(), spell) }
}

// respell changes all texts below a value, and the strings that stand on screens.
func respell(v reflect.Value, spell func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			respell(v.Elem(), spell)
		}
	case reflect.Slice:
		for i := range v.Len() {
			respell(v.Index(i), spell)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(spell(v.String()))
		}
	case reflect.Struct:
		if text, ok := v.Interface().(message.Text); ok {
			if german := spell(text.String()); german != text.String() && v.CanSet() {
				v.Set(reflect.ValueOf(message.Data(german)))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				respell(v.Field(i), spell)
			}
		}
	default:
	}
}
