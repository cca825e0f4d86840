"""Words that a text needs for its grammar and that say nothing of its subject, in English and Spanish.

A question is mostly made of them, and a chunk that shares "I", "to" and "the" with it is not about the same thing. They
are left out of what is looked for, never of what is indexed: a question of nothing else is looked for as it stands.
Accents are folded, as everywhere in the keyword branch. Negations stay: "not working" is a symptom.
"""

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
could did do does doing down during each few for from further had has have having he her here hers him his how i if in
into is it its itself just let me more most my myself of off on once only or other our ours out over own same she should
so some such than that the their theirs them then there these they this those through to too under until up very was we
were what when where which while who whom whose why will with would you your yours
"""

_SPANISH = """
al algo algun alguna algunas algunos ante antes aquel aquella aquello asi aunque cada como con cual cuales cualquier
cuando cuanto cuantos de del desde donde el ella ellas ellos en entre era es esa esas ese eso esos esta estaba estan
estar estas este esto estos estoy fue ha han hasta hay he la las le les lo los mas me mi mis mucho muy nos nosotros o
otra otras otro otros para pero por porque pues puede pueden puedo que quien se sea ser si sido sobre son soy su sus
tambien tan tanto te tengo tiene tienen todo todos tu tus un una unas uno unos usted ustedes y ya yo
"""

FUNCTION_WORDS = frozenset((_ENGLISH + _SPANISH).split())
