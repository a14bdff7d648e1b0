package com.acme.queue

import kotlin.test.Test
import kotlin.test.assertEquals

class QueueTest {
    @Test
    fun `first in is first out`() {
        assertEquals(1, queueOf(1, 2).first())
    }
}
