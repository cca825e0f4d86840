"""The words of English and Spanish that hold sentences together or give them their form.

Only words that say nothing about any subject stand here, folded: without capitals and accents. What a request is
about is read from the request.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words("""
    a an the this that these those my your his her its our their me you him it us them i we he she they
    who whom whose what which why when where how and or but nor so if then than as of at by for from in into on onto
    to with without within about over under after before since until while during between
    is are am was were be been being do does did done doing has have had having
    can could will would shall should may might must not no yes any some all each every both either neither
    there here just only also too very more most less again still already yet ever never please
    hello hi hey thanks thank ok okay let lets now today
    doesn don didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn cannot
    nothing something anything everything nobody someone anyone
""")
SPANISH = _words("""
    el la los las lo un una unos unas este esta esto estos estas ese esa eso esos esas aquel mi mis tu tus su sus
    nuestro nuestra nuestros me te se le les nos yo usted ustedes ella ellos ellas nosotros
    que quien quienes cual cuales cuando donde como cuanto cuanta cuantos cuantas porque y e o u ni pero si no
    de del a al en con sin por para sobre entre desde hasta tras ante
    es son soy era eran fue ser estar estan estoy estaba hay ha han he haber tiene tienen tengo
    puede pueden puedo puedes podria podrias debe deben ya aun todavia muy mas menos tambien solo
    nada algo nadie alguien todo toda todos todas cada aqui ahora hoy favor hola gracias vale tampoco
""")

# Forms of English verbs that no ending leads back to the verb, each with its verb.
_PAST_OF = _words("""
    kept/keep held/hold sent/send paid/pay lost/lose told/tell sold/sell made/make bought/buy brought/bring
    built/build met/meet spent/spend took/take taken/take gave/give given/give wrote/write written/write
    chose/choose chosen/choose broke/break broken/break came/come went/go gone/go began/begin begun/begin
    stole/steal stolen/steal shown/show known/know withdrew/withdraw withdrawn/withdraw
""")
IRREGULAR = dict(pair.split("/") for pair in _PAST_OF)

# What stands before a wish out of courtesy, and what makes a sentence one wherever it stands.
COURTESY = _words("""
    please kindly hello hi hey thanks thank you ok okay yes now just and then so
    por favor hola gracias si vale ya y entonces
""")
PLEASE = _words("please kindly favor")
# How a wish opens politely. Longest first.
OPENINGS = (
    ("i", "would", "like", "you", "to"),
    ("i", "want", "you", "to"),
    ("i", "need", "you", "to"),
    ("i", "would", "like", "to"),
    ("i", "like", "to"),  # what is left of "I'd like to"
    ("i", "want", "to"),
    ("i", "need", "to"),
    ("me", "gustaria"),
    ("can", "you"),
    ("could", "you"),
    ("will", "you"),
    ("would", "you"),
    ("puedes",),
    ("puede",),
    ("podrias",),
    ("podria",),
    ("quiero",),
    ("quisiera",),
    ("necesito",),
)
# Wishes to be told something: questions in another form.
ASKING = _words("""
    tell show explain describe list give say know help check look see find verify inspect review wonder
    di dime muestra muestrame explica explicame cuentame lista dame saber ayuda ayudame
    comprueba compruebe revisa revise mira verifica consulta busca
""")
AUXILIARY = _words("""
    is are am was were do does did has have had can could will would shall should may might
""")
INTERROGATIVE = AUXILIARY | _words("""
    why what when where who whom whose which how
    que cual cuales quien quienes cuando donde como cuanto cuanta cuantos cuantas
""")
# After the first word of "errors on every call" or "printers are failing": that word was no verb.
AFTER_A_NOUN = _words("""
    on in at with when while since for from of is are was were be has have had do does did
    can could will would not after before during
    en con desde cuando es son esta estan fue no de del que ha han tiene tienen
""")
# After the verb of "open the door": a sentence that opens so tells its reader what to do.
DETERMINER = _words("a an the this that these your its el la los las un una este esta su sus tu")
# Words by which a sentence says what may be done.
SUGGESTING = _words("""
    can could may should must need needs ask contact
    puede pueden podra debe deben hay solicita solicite pida
""")
# Words that ask for one or several of a kind; beside "how many" and "how much".
WHICH = _words("which what cual cuales que cuanto cuanta cuantos cuantas")
# What may stand between such a word, or a wish to be shown something, and the kind that is asked for.
AMONG = _words("""
    me us nos of all any the my our ours are is were was de todo toda todos todas el la los las mi mis
    nuestro nuestra nuestros nuestras es son
""")
# By these a sentence speaks of what its author has; the pairs do so only together.
POSSESSIVE = _words("""
    my mine our ours mi mis mio mia mios mias nuestro nuestra nuestros nuestras tengo tenemos
""")
HAVING = frozenset({("i", "have"), ("have", "i"), ("i", "am"), ("am", "i"), ("we", "have"), ("have", "we")})
# Before the verb of one's own duty, "have to" and "tengo que" speak of nothing that one has.
DUTY = frozenset({("have", "to"), ("tengo", "que"), ("tenemos", "que")})
# After "what" or "que": a question for what is to be done.
DOING = frozenset({("i", "do"), ("we", "do"), ("you", "do"), ("one", "do")})
HACER = _words("hago hacemos hace hacer")
# After "how" or "como": a question for the way to do something, not for a number or a state.
WAY = _words("do does can could should must may to")
CONDITION = _words("when if whenever once cuando si")
MEANING = _words("mean means meant meaning significa significan")
HAPPENING = _words("happen happens pasa pasan ocurre sucede")
# How the money of each code is written: by its code, its names and its sign. Several share a name.
_NAMES = {
    "euro euros €": "EUR",
    "dollar dollars dolar dolares $": "USD CAD AUD",
    "pound pounds libra libras £": "GBP",
    "peso pesos $": "MXN COP ARS CLP",
    "franc francs franco francos": "CHF",
    "yen yenes ¥": "JPY",
    "": "PEN BRL INR CNY SEK NOK DKK PLN",
}
CURRENCIES = {code: _words(names) | {code.lower()} for names, codes in _NAMES.items() for code in sorted(_words(codes))}
# Beside a number, these make another number of it.
SCALES = _words("percent hundred thousand million billion dozen dozens k m mil cien cientos millon millones docena")
