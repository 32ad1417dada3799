"""Exercise: memory, traffic and work of many processes, in numbers."""

from transformer_course.checks.questions import Question, Slip, predict_exercise

QUESTIONS = {
    "a": Question(
        "megabytes of one process, everything whole",
        1600.0,
        "Four things are kept for each weight. Which ones? And how many bytes does each take?",
        (
            Slip(400.0, "the weights alone", "What does an update need, beside the weights?"),
            Slip(800.0, "without Adam", "Adam keeps two numbers for each weight."),
            Slip(1200.0, "one number of Adam", "Adam keeps a mean, and a mean of squares."),
            Slip(200.0, "divided among the processes", "Here each process has everything, whole."),
        ),
    ),
    "b": Question(
        "megabytes of one process, all divided",
        200.0,
        "What of the question before is divided, and by how much?",
        (
            Slip(1600.0, "nothing divided", "With FSDP a process keeps a shard. Of what?"),
            Slip(
                900.0,
                "only Adam divided",
                "That is the first step (ZeRO, stage one). FSDP divides the weights and gradients, too.",
            ),
            Slip(
                550.0,
                "the weights left whole",
                "Each process keeps a shard of the weights as well, and gathers the others when it needs them.",
            ),
        ),
    ),
    "c": Question(
        "megabytes that a process sends in a ring all-reduce",
        700.0,
        "How large is a chunk? In how many steps does a process send one?",
        (
            Slip(
                400.0, "the gradient once", "There are two halves: sums are made, then passed on."
            ),
            Slip(
                800.0,
                "the gradient twice",
                "In each half there is one step fewer than there are processes.",
            ),
            Slip(
                350.0,
                "the first half only",
                "After the sums are made, each process has one of them.",
            ),
            Slip(
                2800.0,
                "the whole gradient in each step of one half",
                "In one step a process sends one chunk, not its whole gradient.",
            ),
            Slip(
                5600.0,
                "the whole gradient in each step",
                "If the whole gradient went round, one half of the steps would do. What is a chunk for?",
            ),
            Slip(175.0, "numbers in the place of bytes", "How many bytes does one number take?"),
        ),
    ),
    "d": Question(
        "megabytes that the one worker receives",
        2800.0,
        "How many others send to it, and how much does each of them send?",
        (
            Slip(
                3200.0,
                "its own gradient received, too",
                "Its own gradient is there already. How many others are there?",
            ),
            Slip(400.0, "one gradient", "Each of the others sends a whole gradient."),
            Slip(
                5600.0, "what it sends back counted, too", "The question asks what it *receives*."
            ),
        ),
    ),
    "e": Question(
        "FLOPs of an update, in units of 10¹²",
        30.0,
        "The rule of thumb has a factor, the number of weights, and the number of tokens.",
        (
            Slip(
                10.0, "the forward pass only", "The backward pass costs about twice as much again."
            ),
            Slip(
                5.0,
                "one operation for each weight and token",
                "A product and a sum are two operations.",
            ),
            Slip(
                15.0,
                "a multiply-add counted as one",
                "A multiplication and an addition count as two operations.",
            ),
            Slip(20.0, "the backward pass alone", "The forward pass counts, too."),
        ),
    ),
    "f": Question(
        "utilisation",
        0.5,
        "How many operations are done in a second? How many could be done?",
        (
            Slip(2.0, "turned round", "Can more be done than is possible?"),
            Slip(50.0, "in per cent", "The question asks for a share, not for per cent."),
            Slip(
                0.3,
                "the operations of an update over those of a second",
                "An update doesn't take a second.",
            ),
        ),
    ),
    "g": Question(
        "tokens of an update",
        16000.0,
        "How many small batches go into one update?",
        (
            Slip(
                4000.0,
                "one batch for each process",
                "Each process adds up several gradients first.",
            ),
            Slip(2000.0, "one process only", "All processes work on the same update."),
            Slip(500.0, "one batch", "Several gradients are added up, in several processes."),
            Slip(
                6000.0,
                "processes and batches added",
                "Each of the processes reads all of its batches.",
            ),
        ),
    ),
    "h": Question(
        "the loss of the batch",
        3.0,
        "What is the sum of the losses of all tokens? How many tokens are there?",
        (
            Slip(4.0, "the mean of means", "One shard has more tokens than the other."),
            Slip(
                8.0,
                "the means added",
                "A mean of the whole batch lies between those of its shards.",
            ),
            Slip(5.0, "the weights the wrong way round", "Which shard has more tokens?"),
        ),
    ),
    "i": Question(
        "failures a day",
        0.48,
        "How many hours do all devices together run in a day?",
        (
            Slip(0.02, "failures an hour", "A day has more than one hour."),
            Slip(0.00048, "one device only", "Each of the devices can fail."),
            Slip(
                50.0,
                "hours between two failures",
                "The question asks how often, not after how long.",
            ),
        ),
    ),
    "j": Question(
        "seconds between two checkpoints",
        1000.0,
        "Young's rule is a square root. What is under it?",
        (
            Slip(
                707.1,
                "the factor of two left out",
                "Half of the interval is lost in a failure. Where does that come into the rule?",
            ),
            Slip(
                10000.0,
                "one checkpoint for each failure",
                "Then half of the time between failures is lost.",
            ),
            Slip(1e6, "the root forgotten", "What you have is a product of seconds and seconds."),
            Slip(
                500.0,
                "half of the interval",
                "On average half of an interval is lost. The question asks for the whole interval.",
            ),
        ),
    ),
    "k": Question(
        "the loss of a model sixteen times as large",
        6.0,
        "By what is the loss multiplied if the size is multiplied by four? And then once more?",
        (
            Slip(
                0.75,
                "divided by the factor of the size",
                "The exponent isn't one. What is a power of one half?",
            ),
            Slip(12.0, "the loss as it was", "A larger model has a smaller loss here."),
            Slip(
                24.0,
                "the wrong sign of the exponent",
                "Does the loss grow or fall with the size?",
            ),
            Slip(
                3.0,
                "the root in place of the root of the root",
                "The exponent says how often a root is taken. One half is a root; what is a quarter?",
            ),
        ),
    ),
}

predict = predict_exercise(
    QUESTIONS,
    statement=(
        "Answer with pencil and paper, before you run any code: a number. Your function gets the letter of a "
        "question and returns your answer. A megabyte is a million bytes."
    ),
    minutes=25,
    tolerance=0.01,
    difficulty=2,
)
